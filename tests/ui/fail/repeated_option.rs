use pgflow::prelude::*;

#[flow(max_attempts = 3, max_attempts = 4)]
mod billing {
    use super::*;

    #[step(timeout = 5, timeout = 6)]
    async fn fetch_user() -> Result<Vec<u32>> {
        Ok(vec![1])
    }

    #[step(depends_on = [fetch_user], depends_on = [fetch_user])]
    async fn invoice() -> Result<u32> {
        Ok(1)
    }

    #[step(map, map, depends_on = [fetch_user])]
    async fn remind(item: u32) -> Result<u32> {
        Ok(item)
    }
}

fn main() {}
