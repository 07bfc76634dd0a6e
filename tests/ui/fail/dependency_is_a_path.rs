use pgflow::prelude::*;

#[flow]
mod billing {
    use super::*;

    #[step]
    pub async fn invoice() -> Result<u32> {
        Ok(1)
    }
}

#[flow]
mod reminders {
    use super::*;

    #[step(depends_on = [billing::invoice])]
    pub async fn thank() -> Result<u32> {
        Ok(1)
    }
}

fn main() {}
