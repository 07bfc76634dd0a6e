//! The same flow with a step inserted, one removed, and one that became a map.

use pgflow::prelude::*;

#[flow(version = 2, slug = "parcel", input = Vec<u32>)]
pub(crate) mod parcel {
    use super::*;

    #[step]
    async fn unpack(run: Vec<u32>) -> Result<Vec<u32>> {
        Ok(run)
    }

    #[step(map, depends_on = [unpack])]
    async fn weigh(item: u32) -> Result<u32> {
        Ok(item * 10)
    }

    #[step(depends_on = [weigh])]
    async fn send(weigh: Vec<u32>) -> Result<String> {
        Ok(format!("sent {weigh:?}"))
    }
}
