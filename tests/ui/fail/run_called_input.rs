use pgflow::prelude::*;

#[flow(input = String)]
mod billing {
    use super::*;

    #[step]
    async fn welcome(input: String) -> Result<String> {
        Ok(input)
    }
}

fn main() {}
