//! Starts runs on all connections.

use std::cell::Cell;

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
    let next = Cell::new(0);
    let work = lanes.iter_mut().map(|lane| {
        let (next, input) = (&next, &input);
        async move {
            while next.get() < runs {
                let number = next.get();
                next.set(number + 1);
                flow::start(lane, slug, &input(number)).await?;
            }
            Result::<_>::Ok(())
        }
    });
    try_join_all(work).await?;
    Ok(())
}
