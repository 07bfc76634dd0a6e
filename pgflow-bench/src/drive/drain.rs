//! Claim and settle on all connections until nothing is left.

use std::cell::Cell;
use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use sqlx::PgConnection;
use tokio::time::sleep;

use super::Driver;
use crate::error::Result;

/// Wait after an empty claim: about what a worker that is rung up needs.
pub(super) const IDLE: Duration = Duration::from_millis(2);

/// What a drain got done.
pub(crate) struct Drained {
    pub(crate) tasks: u32,
    /// Until the last task was settled, not until the last connection noticed.
    pub(crate) wall: Duration,
}

/// Works off `expected` tasks, or as many as fit into `limit`.
pub(crate) async fn drain(
    lanes: &mut [PgConnection],
    driver: &Driver,
    expected: u32,
    limit: Duration,
) -> Result<Drained> {
    let started = Instant::now();
    let done = Cell::new(0);
    let last = Cell::new(started);
    let work = lanes.iter_mut().map(|lane| {
        let (done, last) = (&done, &last);
        async move {
            while done.get() < expected && started.elapsed() < limit {
                let tasks = driver.claim(lane, driver.batch).await?;
                if tasks.is_empty() {
                    sleep(IDLE).await;
                    continue;
                }
                let settled = driver.settle(lane, &tasks).await?;
                done.set(done.get() + settled);
                last.set(Instant::now());
            }
            Result::<_>::Ok(())
        }
    });
    try_join_all(work).await?;
    Ok(Drained { tasks: done.get(), wall: last.get() - started })
}
