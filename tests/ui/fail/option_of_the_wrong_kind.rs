use pgflow::prelude::*;

#[flow]
mod billing {
    use super::*;

    #[step(max_attempts = "three")]
    async fn worded() -> Result<u32> {
        Ok(1)
    }

    #[step(base_delay = 1.5)]
    async fn broken() -> Result<u32> {
        Ok(1)
    }

    #[step(timeout)]
    async fn without_value() -> Result<u32> {
        Ok(1)
    }

    #[step(map = true)]
    async fn with_value() -> Result<u32> {
        Ok(1)
    }
}

fn main() {}
