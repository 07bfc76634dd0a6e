//! Claim and settle on all connections until nothing is left.

use std::cell::Cell;
use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use sqlx::PgConnection;

use super::Driver;
use super::allotment::Allotment;
use crate::error::Result;

/// What a drain or a phase of it got done.
pub(crate) struct Drained {
    pub(crate) tasks: u32,
    /// Until the last task was done, not until the last connection noticed.
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
    let allotment = Allotment::new(expected, limit);
    let (done, last) = (Cell::new(0), Cell::new(started));
    let work = lanes.iter_mut().map(|lane| {
        let (allotment, done, last) = (&allotment, &done, &last);
        async move {
            loop {
                let tasks = allotment.claim(driver, lane).await?;
                if tasks.is_empty() {
                    return Result::<_>::Ok(());
                }
                let settled = driver.settle(lane, &tasks).await?;
                done.set(done.get() + settled);
                last.set(Instant::now());
            }
        }
    });
    try_join_all(work).await?;
    Ok(Drained { tasks: done.get(), wall: last.get() - started })
}
