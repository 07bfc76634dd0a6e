use pgflow::prelude::*;

#[flow]
mod billing {
    use super::*;

    #[step]
    async fn fetch_user() -> u32 {
        1
    }

    #[step]
    async fn nothing() {}

    #[step]
    async fn fine() -> Result<u32> {
        Ok(1)
    }

    #[step(depends_on = [fetch_user, nothing])]
    async fn after(fetch_user: u32) -> Result<u32> {
        Ok(fetch_user)
    }

    #[step]
    async fn maybe() -> Option<Vec<u32>> {
        None
    }
}

fn main() {}
