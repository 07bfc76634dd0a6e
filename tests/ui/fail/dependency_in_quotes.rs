use pgflow::prelude::*;

#[flow]
mod billing {
    use super::*;

    #[step]
    async fn fetch_user() -> Result<u32> {
        Ok(1)
    }

    #[step(depends_on = ["fetch_user"])]
    async fn invoice(fetch_user: u32) -> Result<u32> {
        Ok(fetch_user)
    }

    #[step(depends_on = "fetch_user")]
    async fn remind(fetch_user: u32) -> Result<u32> {
        Ok(fetch_user)
    }
}

fn main() {}
