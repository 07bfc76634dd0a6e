use pgflow::prelude::*;

#[flow(input = u32)]
mod billing {
    use super::*;

    #[step]
    async fn over_types<T: Clone>(run: u32) -> Result<u32> {
        Ok(run)
    }

    #[step]
    async fn over_lifetimes<'a>(run: u32) -> Result<u32> {
        Ok(run)
    }

    #[step]
    async fn over_constants<const N: usize>(run: u32) -> Result<u32> {
        Ok(run)
    }

    #[step]
    async fn in_disguise(run: impl Into<u32>) -> Result<u32> {
        Ok(run.into())
    }
}

fn main() {}
