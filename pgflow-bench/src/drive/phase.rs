//! Claiming and settling apart from each other, so that each can be measured.

use std::cell::Cell;
use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use sqlx::PgConnection;

use super::allotment::Allotment;
use super::drain::Drained;
use super::{Driver, Task};
use crate::error::Result;

/// Claimed batches, by connection.
pub(crate) type ClaimedBatches = Vec<Vec<Vec<Task>>>;

/// Claims `expected` tasks, or as many as fit into `limit`.
pub(crate) async fn claim_all(
    lanes: &mut [PgConnection],
    driver: &Driver,
    expected: u32,
    limit: Duration,
) -> Result<(ClaimedBatches, Drained)> {
    let started = Instant::now();
    let allotment = Allotment::new(expected, limit);
    let last = Cell::new(started);
    let work = lanes.iter_mut().map(|lane| {
        let (allotment, last) = (&allotment, &last);
        async move {
            let mut held = Vec::new();
            loop {
                let tasks = allotment.claim(driver, lane).await?;
                if tasks.is_empty() {
                    return Result::<_>::Ok(held);
                }
                last.set(Instant::now());
                held.push(tasks);
            }
        }
    });
    let held = try_join_all(work).await?;
    Ok((held, Drained { tasks: allotment.claimed(), wall: last.get() - started }))
}

/// Settles what was claimed, each connection its own batches, or as much as fits into `limit`.
pub(crate) async fn settle_all(
    lanes: &mut [PgConnection],
    driver: &Driver,
    held: ClaimedBatches,
    limit: Duration,
) -> Result<Drained> {
    let started = Instant::now();
    let work = lanes.iter_mut().zip(held).map(|(lane, batches)| async move {
        let mut settled = 0;
        for tasks in batches {
            if started.elapsed() >= limit {
                break;
            }
            settled += driver.settle(lane, &tasks).await?;
        }
        Result::<_>::Ok(settled)
    });
    let tasks = try_join_all(work).await?.into_iter().sum();
    Ok(Drained { tasks, wall: started.elapsed() })
}
