//! One task per element of the run's input.
#![deny(warnings)]

use pgflow::prelude::*;
use pgflow::testing::{block_on, run};

#[flow(input = Vec<String>)]
mod crawl {
    use super::*;

    #[step(map)]
    pub async fn length(item: String, ctx: Context) -> Result<usize> {
        let _ = ctx;
        Ok(item.len())
    }

    #[step(depends_on = [length])]
    pub async fn total(run: Vec<String>, length: Vec<usize>) -> Result<usize> {
        Ok(length.into_iter().sum::<usize>() + run.len())
    }
}

fn main() {
    let shape = crawl::Flow::shape();
    assert_eq!(shape.steps[0].kind.sql(), "map");
    assert!(shape.steps[0].depends_on.is_empty());
    assert_eq!(shape.steps[1].kind.sql(), "single");

    let ran = block_on(run(crawl::Flow, vec!["a".into(), "bcd".into()])).expect("it runs");
    assert_eq!(ran.step::<crawl::length>().expect("numbers"), Some(vec![1, 3]));
    assert_eq!(ran.output().expect("its output").total, 6);
}
