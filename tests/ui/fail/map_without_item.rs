use pgflow::prelude::*;

#[flow]
mod billing {
    use super::*;

    #[step]
    async fn users() -> Result<Vec<u32>> {
        Ok(vec![1])
    }

    #[step(map, depends_on = [users])]
    async fn remind() -> Result<u32> {
        Ok(1)
    }
}

fn main() {}
