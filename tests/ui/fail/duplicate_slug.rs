use pgflow::prelude::*;

#[flow]
mod billing {
    use super::*;

    #[step]
    async fn fetch_user() -> Result<u32> {
        Ok(1)
    }

    #[step(slug = "fetch_user")]
    async fn load_user() -> Result<u32> {
        Ok(2)
    }
}

fn main() {}
