use pgflow::prelude::*;

#[flow]
mod billing {
    use super::*;

    #[step(depends_on = [fetch_user])]
    async fn fetch_user() -> Result<u32> {
        Ok(1)
    }
}

fn main() {}
