use pgflow::prelude::*;

#[flow]
mod billing {
    use super::*;

    #[step]
    async fn users() -> Result<Vec<u32>> {
        Ok(vec![1])
    }

    #[step(map, depends_on = [users])]
    async fn remind(users: u32) -> Result<u32> {
        Ok(users)
    }
}

fn main() {}
