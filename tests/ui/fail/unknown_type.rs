use pgflow::prelude::*;

#[flow(input = Signup)]
mod billing {
    use super::*;

    #[step]
    async fn fetch_user(run: Signup) -> Result<User> {
        Ok(run.into())
    }

    #[step(map, depends_on = [fetch_user])]
    async fn invoice(item: Receipt) -> Result<u32> {
        Ok(item.total)
    }
}

fn main() {}
