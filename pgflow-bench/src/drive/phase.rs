//! Claiming and settling apart from each other, so that each can be measured.

use std::cell::Cell;
use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use sqlx::PgConnection;
use tokio::time::sleep;

use super::drain::{Drained, IDLE};
use super::{Driver, Task};
use crate::error::Result;

/// Claimed batches, by connection.
pub(crate) type Held = Vec<Vec<Vec<Task>>>;

/// Claims `expected` tasks, or as many as fit into `limit`.
pub(crate) async fn claim_all(
    lanes: &mut [PgConnection],
    driver: &Driver,
    expected: u32,
    limit: Duration,
) -> Result<(Held, Drained)> {
    let started = Instant::now();
    let claimed = Cell::new(0);
    // Asked for by some connection but not there yet: nobody else asks for the same ones.
    let asked = Cell::new(0);
    let last = Cell::new(started);
    let work = lanes.iter_mut().map(|lane| {
        let (claimed, asked, last) = (&claimed, &asked, &last);
        async move {
            let mut held = Vec::new();
            while claimed.get() < expected && started.elapsed() < limit {
                let limit = driver.batch.min(expected - claimed.get() - asked.get());
                asked.set(asked.get() + limit);
                let tasks = if limit > 0 { driver.claim(lane, limit).await? } else { Vec::new() };
                asked.set(asked.get() - limit);
                if tasks.is_empty() {
                    sleep(IDLE).await;
                    continue;
                }
                claimed.set(claimed.get() + count(&tasks));
                last.set(Instant::now());
                held.push(tasks);
            }
            Result::<_>::Ok(held)
        }
    });
    let held = try_join_all(work).await?;
    Ok((held, Drained { tasks: claimed.get(), wall: last.get() - started }))
}

/// Settles what was claimed, each connection its own batches, or as much as fits into `limit`.
pub(crate) async fn settle_all(
    lanes: &mut [PgConnection],
    driver: &Driver,
    held: Held,
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

fn count(tasks: &[Task]) -> u32 {
    u32::try_from(tasks.len()).unwrap_or(u32::MAX)
}
