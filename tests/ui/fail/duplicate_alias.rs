use pgflow::prelude::*;

#[flow]
mod billing {
    use super::*;

    #[step]
    async fn fetch_user() -> Result<u32> {
        Ok(1)
    }

    #[step]
    async fn fetch_account() -> Result<u32> {
        Ok(1)
    }

    #[step(depends_on = [fetch_user as found, fetch_account as found])]
    async fn invoice(found: u32) -> Result<u32> {
        Ok(found)
    }
}

fn main() {}
