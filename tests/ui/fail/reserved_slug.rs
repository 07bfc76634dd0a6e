use pgflow::prelude::*;

#[flow]
mod billing {
    use super::*;

    #[step]
    async fn run() -> Result<u32> {
        Ok(1)
    }

    #[step(slug = "run")]
    async fn start() -> Result<u32> {
        Ok(1)
    }
}

fn main() {}
