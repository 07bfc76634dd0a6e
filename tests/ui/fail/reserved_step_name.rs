use pgflow::prelude::*;

#[flow]
mod billing {
    use super::*;

    #[step]
    async fn ctx() -> Result<u32> {
        Ok(1)
    }

    #[step]
    async fn item() -> Result<u32> {
        Ok(1)
    }
}

fn main() {}
