use pgflow::prelude::*;

#[flow(slug = "monthly billing")]
mod billing {
    use super::*;

    #[step]
    async fn score() -> Result<u32> {
        Ok(1)
    }
}

#[flow]
mod zürich {
    use super::*;

    #[step]
    async fn score() -> Result<u32> {
        Ok(1)
    }
}

fn main() {}
