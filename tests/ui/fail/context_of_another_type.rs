use pgflow::prelude::*;

#[flow]
mod billing {
    use super::*;

    #[step]
    async fn fetch_user(ctx: String) -> Result<usize> {
        Ok(ctx.len())
    }
}

fn main() {}
