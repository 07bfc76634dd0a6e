//! Spawn, claim and complete measured apart: what the flatness cases have in common.

use serde_json::Value;

use super::Context;
use crate::drive::{Starts, claim_all, drain, settle_all, spawn};
use crate::error::Result;
use crate::meter::Cost;
use crate::sample::Reading;

/// Starts runs on all connections and measures it.
pub(super) async fn spawned(
    context: &mut Context<'_>,
    slug: &str,
    runs: u32,
    starts: Starts,
    input: impl Fn(u32) -> Value,
) -> Result<Cost> {
    let target = &mut *context.target;
    let mark = target.probe.mark().await?;
    spawn(&mut target.lanes, slug, runs, starts, input).await?;
    target.probe.since(mark).await
}

/// One by one, on some of the connections.
pub(super) async fn spawned_on(
    context: &mut Context<'_>,
    lanes: usize,
    slug: &str,
    runs: u32,
    input: impl Fn(u32) -> Value,
) -> Result<Cost> {
    let target = &mut *context.target;
    let mark = target.probe.mark().await?;
    spawn(&mut target.lanes[..lanes], slug, runs, Starts::OneByOne, input).await?;
    target.probe.since(mark).await
}

/// Works off `expected` tasks in the usual mix of claims and settles.
pub(super) async fn drained(
    context: &mut Context<'_>,
    slug: &str,
    expected: u32,
) -> Result<(u32, Cost)> {
    let driver = context.driver(slug);
    let target = &mut *context.target;
    let mark = target.probe.mark().await?;
    let drained = drain(&mut target.lanes, &driver, expected, context.sizes.window).await?;
    Ok((drained.tasks, target.probe.since_with_wall(mark, drained.wall).await?))
}

/// Claims everything, then completes everything; `waves` are the tasks that are ready at a time.
pub(super) async fn claimed_and_completed(
    context: &mut Context<'_>,
    slug: &str,
    waves: &[u32],
) -> Result<[(u32, Cost); 2]> {
    let driver = context.driver(slug);
    let limit = context.sizes.window;
    let target = &mut *context.target;
    let mut sums = [(0, Cost::default()); 2];
    for wave in waves {
        let mark = target.probe.mark().await?;
        let (held, claimed) = claim_all(&mut target.lanes, &driver, *wave, limit).await?;
        add(&mut sums[0], claimed.tasks, target.probe.since_with_wall(mark, claimed.wall).await?);
        let mark = target.probe.mark().await?;
        let settled = settle_all(&mut target.lanes, &driver, held, limit).await?;
        add(&mut sums[1], settled.tasks, target.probe.since_with_wall(mark, settled.wall).await?);
        if settled.tasks < *wave {
            break; // cut off: the next wave would wait for tasks that never get ready
        }
    }
    Ok(sums)
}

/// One reading per phase, at the level that is varied.
pub(super) fn readings(
    level: &str,
    spawn: (u32, Cost),
    [claim, complete]: [(u32, Cost); 2],
) -> Vec<Reading> {
    [("spawn", spawn), ("claim", claim), ("complete", complete)]
        .map(|(phase, (tasks, cost))| Reading::new(phase, "task", tasks, cost).at(level))
        .into()
}

fn add(sum: &mut (u32, Cost), tasks: u32, cost: Cost) {
    sum.0 += tasks;
    sum.1 += cost;
}
