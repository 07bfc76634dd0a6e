//! `crate = …` where `pgflow` is reached by another path. `tests/renamed` does it in a manifest.
#![deny(warnings)]

mod vendor {
    pub use pgflow as workflows;
}

#[vendor::workflows::flow(input = u32, crate = crate::vendor::workflows)]
mod billing {
    use crate::vendor::workflows::prelude::*;

    #[step]
    pub async fn fetch(run: u32) -> Result<u32> {
        Ok(run + 1)
    }
}

fn main() {
    use vendor::workflows::Flow as _;
    assert_eq!(billing::Flow::SLUG, "billing");
}
