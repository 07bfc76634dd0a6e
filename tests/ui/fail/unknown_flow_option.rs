use pgflow::prelude::*;

#[flow(inptu = u32, max_attempts = 3)]
mod billing {
    use super::*;

    #[step]
    async fn fetch_user() -> Result<u32> {
        Ok(1)
    }
}

#[flow(depends_on = [billing])]
mod reminders {
    use super::*;

    #[step]
    async fn remind() -> Result<u32> {
        Ok(1)
    }
}

fn main() {}
