//! Jobs: submitting, the cycle of a worker in shallow and deep queues, claims that come back empty, joins.

mod cycle;
mod empty;
mod join;
mod submit;

use std::cell::Cell;
use std::time::{Duration, Instant};

use futures_util::future::try_join_all;

use super::Context;
use crate::error::Result;
use crate::jobs;

pub(super) use cycle::run as cycle;
pub(super) use empty::run as empty;
pub(crate) use empty::{CLAIMS, EMPTY};
pub(super) use join::run as join;
pub(super) use submit::run as submit;

/// More at once would only be slower.
pub(crate) const FILL: u32 = 1_000;
/// However slow the other core is.
pub(crate) const PATIENCE: Duration = Duration::from_hours(1);

/// Gives `total` items to the connections, `batch` at a time, until all are given out or the time is up; returns
/// how many they report as done.
pub(crate) async fn share_out<L>(
    lanes: &mut [L],
    (batch, total): (u32, u32),
    limit: Duration,
    work: impl AsyncFn(&mut L, u32) -> Result<u32>,
) -> Result<u32> {
    let end = Instant::now() + limit;
    let (left, done) = (Cell::new(total), Cell::new(0));
    let all = lanes.iter_mut().map(|lane| {
        let (left, done, work) = (&left, &done, &work);
        async move {
            while left.get() > 0 && Instant::now() < end {
                let share = batch.min(left.get());
                left.set(left.get() - share);
                let finished = work(lane, share).await?;
                done.set(done.get() + finished);
            }
            Result::<_>::Ok(())
        }
    });
    try_join_all(all).await?;
    Ok(done.get())
}

/// Puts so many jobs in line, and lets the planner know.
async fn fill(context: &mut Context<'_>, count: u32) -> Result<()> {
    let (by, target) = (context.protocol, &mut *context.target);
    let (lanes, names) = (&mut target.lanes, &target.names);
    share_out(lanes, (FILL, count), PATIENCE, async |lane, share| {
        jobs::submit(by, lane, &names.take(share)).await?;
        Ok(share)
    })
    .await?;
    crate::cleanup::analyze(target).await?;
    crate::cleanup::checkpoint(target).await;
    Ok(())
}
