use pgflow::prelude::*;

#[flow]
mod billing {
    use super::*;

    #[step]
    #[step(timeout = 5)]
    async fn users() -> Result<Vec<u32>> {
        Ok(vec![1])
    }
}

fn main() {}
