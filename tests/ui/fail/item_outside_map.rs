use pgflow::prelude::*;

#[flow]
mod billing {
    use super::*;

    #[step]
    async fn users() -> Result<Vec<u32>> {
        Ok(vec![1])
    }

    #[step(depends_on = [users])]
    async fn remind(item: u32) -> Result<u32> {
        Ok(item)
    }
}

fn main() {}
