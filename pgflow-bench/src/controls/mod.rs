//! What the server can do with plain statements: the yardstick for everything else.

pub(crate) mod insert;
pub(crate) mod queue;
pub(crate) mod update;

use std::cell::Cell;
use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use sqlx::PgConnection;

use crate::error::Result;

/// Repeats `work` on every connection for `duration`; returns how many items it reports.
async fn repeat(
    lanes: &mut [PgConnection],
    duration: Duration,
    work: impl AsyncFn(&mut PgConnection, usize) -> Result<u32>,
) -> Result<u32> {
    let end = Instant::now() + duration;
    let items = Cell::new(0);
    let all = lanes.iter_mut().enumerate().map(|(number, lane)| {
        let (items, work) = (&items, &work);
        async move {
            while Instant::now() < end {
                // Read after the work: others count meanwhile.
                let done = work(lane, number).await?;
                items.set(items.get() + done);
            }
            Result::<_>::Ok(())
        }
    });
    try_join_all(all).await?;
    Ok(items.get())
}
