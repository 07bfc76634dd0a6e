use pgflow::prelude::*;

#[flow]
mod billing {
    use super::*;

    #[step]
    async fn fetch_user() -> Result<u32> {
        Ok(1)
    }

    #[step(depends_on = [fetch_usr])]
    async fn invoice(fetch_usr: u32) -> Result<u32> {
        Ok(fetch_usr)
    }

    #[step(depends_on = [warehouse as stock])]
    async fn ship(stock: u32) -> Result<u32> {
        Ok(stock)
    }

    #[step(depends_on = [helper])]
    async fn remind(helper: u32) -> Result<u32> {
        Ok(helper)
    }

    async fn helper() -> Result<u32> {
        Ok(1)
    }
}

fn main() {}
