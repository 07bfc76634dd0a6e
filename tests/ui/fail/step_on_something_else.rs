use pgflow::prelude::*;

#[flow]
mod billing {
    use super::*;

    #[step]
    struct Invoice;

    #[step]
    async fn fetch_user() -> Result<u32> {
        Ok(1)
    }

    #[step]
    const LIMIT: u32 = 1;
}

fn main() {}
