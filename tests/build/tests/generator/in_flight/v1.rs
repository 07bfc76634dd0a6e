//! A flow as it was first deployed.

use pgflow::prelude::*;

#[flow(version = 1, slug = "parcel", input = Vec<u32>)]
pub(crate) mod parcel {
    use super::*;

    #[step]
    async fn weigh(run: Vec<u32>) -> Result<u32> {
        Ok(run.iter().sum())
    }

    #[step(depends_on = [weigh])]
    async fn stamp(weigh: u32) -> Result<String> {
        Ok(format!("{weigh} g"))
    }

    #[step(depends_on = [stamp])]
    async fn send(stamp: String) -> Result<String> {
        Ok(format!("sent, stamped {stamp}"))
    }
}
