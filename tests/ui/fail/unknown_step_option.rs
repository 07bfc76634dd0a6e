use pgflow::prelude::*;

#[flow]
mod billing {
    use super::*;

    #[step(max_attempt = 2)]
    async fn fetch_user() -> Result<u32> {
        Ok(1)
    }

    #[step(after = fetch_user)]
    async fn invoice() -> Result<u32> {
        Ok(1)
    }
}

fn main() {}
