use pgflow::prelude::*;

#[flow]
mod billing {
    use super::*;

    #[step]
    async fn opaque() -> Result<u32, impl std::fmt::Debug> {
        if true { Ok(1) } else { Err(2) }
    }

    #[step]
    async fn inferred() -> Result<u32, _> {
        "7".parse()
    }

    #[step]
    async fn output_inferred() -> Result<_, String> {
        Ok(1)
    }
}

fn main() {}
