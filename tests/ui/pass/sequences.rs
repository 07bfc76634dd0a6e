//! Maps over sequences that are not a `Vec`.
#![deny(warnings)]

use std::collections::{BTreeSet, VecDeque};

use pgflow::prelude::*;
use pgflow::testing::{block_on, run};

#[flow(input = BTreeSet<String>)]
mod crawl {
    use super::*;

    #[step(map)]
    pub async fn length(item: String) -> Result<usize> {
        Ok(item.len())
    }

    #[step]
    pub async fn queue() -> Result<VecDeque<u8>> {
        Ok(VecDeque::from([1, 2]))
    }

    #[step(map, depends_on = [queue])]
    pub async fn next(item: u8) -> Result<u8> {
        Ok(item + 1)
    }

    #[step]
    pub async fn pair() -> Result<[u8; 2]> {
        Ok([1, 2])
    }

    #[step(map, depends_on = [pair])]
    pub async fn half(item: u8) -> Result<u8> {
        Ok(item / 2)
    }
}

fn main() {
    assert_eq!(crawl::Flow::shape().steps.len(), 5);

    let ran = block_on(run(crawl::Flow, BTreeSet::from(["abc".into()]))).expect("it runs");
    let output = ran.output().expect("its outputs");
    assert_eq!((output.length, output.next, output.half), (vec![3], vec![2, 3], vec![0, 1]));
}
