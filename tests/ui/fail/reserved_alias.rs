use pgflow::prelude::*;

#[flow]
mod billing {
    use super::*;

    #[step]
    async fn fetch_user() -> Result<u32> {
        Ok(1)
    }

    #[step(depends_on = [fetch_user as run])]
    async fn invoice(run: u32) -> Result<u32> {
        Ok(run)
    }

    #[step(depends_on = [fetch_user as ctx])]
    async fn remind(ctx: u32) -> Result<u32> {
        Ok(ctx)
    }
}

fn main() {}
