use pgflow::prelude::*;

#[flow]
mod billing {
    use super::*;

    #[step]
    async fn total() -> Result<impl Serialize> {
        Ok(1)
    }

    #[step]
    async fn count() -> Result<Vec<_>> {
        Ok(vec![1])
    }

    #[step]
    async fn rest() -> Result<Self> {
        Ok(1)
    }

    #[step(depends_on = [total])]
    async fn bill(total: u32) -> Result<u32> {
        Ok(total)
    }
}

fn main() {}
