use pgflow::prelude::*;

#[flow]
mod billing {
    use super::*;

    #[step]
    async fn welcome(run: String) -> Result<String> {
        Ok(run)
    }
}

fn main() {}
