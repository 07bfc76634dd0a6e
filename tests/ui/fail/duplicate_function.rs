use pgflow::prelude::*;

#[flow]
mod billing {
    use super::*;

    #[step]
    async fn score() -> Result<u32> {
        Ok(1)
    }

    #[step]
    async fn score() -> Result<u32> {
        Ok(2)
    }
}

fn main() {}
