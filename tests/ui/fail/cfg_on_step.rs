use pgflow::prelude::*;

#[flow]
mod billing {
    use super::*;

    #[step]
    #[cfg(debug_assertions)]
    async fn fetch_user() -> Result<u32> {
        Ok(1)
    }

    #[cfg_attr(debug_assertions, step)]
    async fn invoice() -> Result<u32> {
        Ok(1)
    }

    #[step]
    async fn remind() -> Result<u32> {
        Ok(1)
    }
}

fn main() {}
