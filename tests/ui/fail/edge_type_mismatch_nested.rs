use pgflow::prelude::*;

#[flow]
mod billing {
    use super::*;
    use std::collections::BTreeMap;

    #[step]
    async fn totals() -> Result<BTreeMap<String, Vec<(u64, Option<u8>)>>> {
        Ok(BTreeMap::new())
    }

    #[step(depends_on = [
        totals as everything,
    ])]
    async fn report(everything: BTreeMap<String, Vec<(u64, u8)>>) -> Result<usize> {
        Ok(everything.len())
    }
}

fn main() {}
