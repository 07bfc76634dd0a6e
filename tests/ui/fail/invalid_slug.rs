use pgflow::prelude::*;

#[flow]
mod billing {
    use super::*;

    #[step(slug = "fetch-user")]
    async fn fetch_user() -> Result<u32> {
        Ok(1)
    }

    #[step(slug = "2nd")]
    async fn second() -> Result<u32> {
        Ok(1)
    }

    #[step(slug = "")]
    async fn nameless() -> Result<u32> {
        Ok(1)
    }

    #[step(slug = score)]
    async fn unquoted() -> Result<u32> {
        Ok(1)
    }

    #[step]
    async fn größe() -> Result<u32> {
        Ok(1)
    }
}

fn main() {}
