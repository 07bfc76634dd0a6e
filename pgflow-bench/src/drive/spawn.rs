//! Starts runs on all connections.

use std::cell::Cell;
use std::ops::Range;

use futures_util::future::try_join_all;
use serde_json::Value;
use sqlx::PgConnection;

use crate::error::Result;
use crate::flow;

/// Starts `runs` runs of `slug`, each in a transaction of its own.
pub(crate) async fn spawn(
    lanes: &mut [PgConnection],
    slug: &str,
    runs: u32,
    input: impl Fn(u32) -> Value,
) -> Result<()> {
    let numbers = Cell::new(0..runs);
    let work = lanes.iter_mut().map(|lane| {
        let (numbers, input) = (&numbers, &input);
        async move {
            while let Some(number) = take(numbers, 1).next() {
                flow::start(lane, slug, &input(number)).await?;
            }
            Result::<_>::Ok(())
        }
    });
    try_join_all(work).await?;
    Ok(())
}

/// Starts `runs` runs of `slug`, up to `batch` of them in a transaction.
pub(crate) async fn spawn_batched(
    lanes: &mut [PgConnection],
    slug: &str,
    runs: u32,
    batch: u32,
    input: impl Fn(u32) -> Value,
) -> Result<()> {
    let numbers = Cell::new(0..runs);
    let work = lanes.iter_mut().map(|lane| {
        let (numbers, input) = (&numbers, &input);
        async move {
            loop {
                let inputs: Vec<Value> = take(numbers, batch).map(input).collect();
                if inputs.is_empty() {
                    return Result::<_>::Ok(());
                }
                flow::start_many(lane, slug, &inputs).await?;
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
