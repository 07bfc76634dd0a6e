use pgflow::prelude::*;

#[flow]
mod billing {
    use super::*;

    #[step]
    async fn users() -> Result<Vec<u32>> {
        Ok(vec![1])
    }

    #[step]
    async fn accounts() -> Result<Vec<u32>> {
        Ok(vec![2])
    }

    #[step(map, depends_on = [users, accounts])]
    async fn remind(item: u32) -> Result<u32> {
        Ok(item)
    }
}

fn main() {}
