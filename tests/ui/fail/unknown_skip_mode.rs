use pgflow::prelude::*;

#[flow]
mod billing {
    use super::*;

    #[step(when_exhausted = skp)]
    async fn fetch_user() -> Result<u32> {
        Ok(1)
    }

    #[step(when_exhausted = "skip")]
    async fn invoice() -> Result<u32> {
        Ok(1)
    }
}

fn main() {}
