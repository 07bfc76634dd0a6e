use pgflow::prelude::*;

#[flow]
mod billing {
    use super::*;

    #[step]
    async unsafe fn careless() -> Result<u32> {
        Ok(1)
    }

    #[step]
    async extern "C" fn foreign() -> Result<u32> {
        Ok(1)
    }
}

fn main() {}
