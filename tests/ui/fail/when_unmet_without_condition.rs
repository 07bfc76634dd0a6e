use pgflow::prelude::*;

#[flow]
mod billing {
    use super::*;

    #[step(when_unmet = skip)]
    async fn fetch_user() -> Result<u32> {
        Ok(1)
    }
}

fn main() {}
