use pgflow::prelude::*;

type Answer = Result<u32>;

#[flow]
mod billing {
    use super::*;

    #[step]
    async fn fetch_user() -> Answer {
        Ok(1)
    }
}

fn main() {}
