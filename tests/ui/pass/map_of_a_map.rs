//! A map over the outputs of a map, and over a map of lists.
#![deny(warnings)]

use pgflow::prelude::*;
use pgflow::testing::{block_on, run};

#[flow(input = Vec<String>)]
mod crawl {
    use super::*;

    #[step(map)]
    pub async fn words(item: String) -> Result<Vec<String>> {
        Ok(item.split(' ').map(str::to_owned).collect())
    }

    #[step(map, depends_on = [words])]
    pub async fn count(item: Vec<String>) -> Result<usize> {
        Ok(item.len())
    }

    #[step(map, depends_on = [count])]
    pub async fn double(item: usize) -> Result<usize> {
        Ok(item * 2)
    }

    #[step(depends_on = [double, words])]
    pub async fn total(double: Vec<usize>, words: Vec<Vec<String>>) -> Result<usize> {
        Ok(double.into_iter().sum::<usize>() + words.len())
    }
}

fn main() {
    let kinds: Vec<_> = crawl::Flow::shape().steps.iter().map(|step| step.kind.sql()).collect();
    assert_eq!(kinds, ["map", "map", "map", "single"]);

    let ran = block_on(run(crawl::Flow, vec!["a b".into(), "c".into()])).expect("it runs");
    assert_eq!(ran.output().expect("its output").total, 8);
}
