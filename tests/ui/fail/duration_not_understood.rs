use pgflow::prelude::*;

#[flow]
mod billing {
    use super::*;

    #[step(timeout = "5 parsecs")]
    async fn far() -> Result<u32> {
        Ok(1)
    }

    #[step(base_delay = "500ms")]
    async fn short() -> Result<u32> {
        Ok(1)
    }

    #[step(start_delay = "")]
    async fn empty() -> Result<u32> {
        Ok(1)
    }
}

fn main() {}
