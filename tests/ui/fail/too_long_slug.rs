use pgflow::prelude::*;

#[flow]
mod billing {
    use super::*;

    #[step(
        slug = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    )]
    async fn fetch_user() -> Result<u32> {
        Ok(1)
    }
}

fn main() {}
