use pgflow::prelude::*;

#[flow]
mod billing {
    use super::*;

    #[step]
    async fn fetch_user(&self) -> Result<u32> {
        Ok(1)
    }
}

fn main() {}
