use pgflow::prelude::*;

#[flow(timeout = 0)]
mod billing {
    use super::*;

    #[step(max_attempts = 0)]
    async fn never() -> Result<u32> {
        Ok(1)
    }

    #[step(max_attempts = -1)]
    async fn negative() -> Result<u32> {
        Ok(1)
    }

    #[step(timeout = 99999999999)]
    async fn forever() -> Result<u32> {
        Ok(1)
    }

    #[step(timeout = "0s", base_delay = "100000d")]
    async fn hasty() -> Result<u32> {
        Ok(1)
    }
}

fn main() {}
