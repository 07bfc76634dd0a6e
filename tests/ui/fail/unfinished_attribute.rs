use pgflow::prelude::*;

#[flow(input = )]
mod billing {
    use super::*;

    #[step(depends_on = )]
    async fn fetch_user() -> Result<u32> {
        Ok(1)
    }

    #[step(depends_on = [fetch_user as])]
    async fn invoice() -> Result<u32> {
        Ok(1)
    }
}

fn main() {}
