//! Starts runs on all connections.

use std::cell::Cell;
use std::ops::Range;

use futures_util::future::try_join_all;
use serde_json::Value;
use sqlx::PgConnection;

use crate::error::Result;
use crate::flow;

/// How runs are started.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Starts {
    /// A transaction each.
    OneByOne,
    /// Up to so many in a transaction, as a client does with starts that come together.
    Batched(u32),
}

impl Starts {
    fn most(self) -> u32 {
        match self {
            Self::OneByOne => 1,
            Self::Batched(most) => most,
        }
    }

    async fn send(self, lane: &mut PgConnection, slug: &str, inputs: &[Value]) -> Result<()> {
        match (self, inputs) {
            (Self::OneByOne, [input]) => flow::start(lane, slug, input).await.map(drop),
            _ => flow::start_many(lane, slug, inputs).await,
        }
    }
}

/// Starts `runs` runs of `slug`.
pub(crate) async fn spawn(
    lanes: &mut [PgConnection],
    slug: &str,
    runs: u32,
    starts: Starts,
    input: impl Fn(u32) -> Value,
) -> Result<()> {
    let numbers = Cell::new(0..runs);
    let work = lanes.iter_mut().map(|lane| {
        let (numbers, input) = (&numbers, &input);
        async move {
            loop {
                let inputs: Vec<Value> = take(numbers, starts.most()).map(input).collect();
                if inputs.is_empty() {
                    return Result::<_>::Ok(());
                }
                starts.send(lane, slug, &inputs).await?;
            }
        }
    });
    try_join_all(work).await?;
    Ok(())
}

/// The next numbers, up to `most`.
fn take(numbers: &Cell<Range<u32>>, most: u32) -> Range<u32> {
    let left = numbers.take();
    let end = left.end.min(left.start.saturating_add(most));
    numbers.set(end..left.end);
    left.start..end
}
