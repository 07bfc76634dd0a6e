//! `pgflow queue depth`.

use serde_json::json;

use super::Named;
use super::pause::warn_of_unseen;
use crate::database::{Table, flat, shapes, spoken};
use crate::error::Error;
use crate::out;

pub(super) async fn run(named: &Named) -> Result<bool, Error> {
    let db = named.reach.open().await?;
    let stats = db.queue(&named.queue).stats().await?;
    if stats.depth + stats.in_flight + stats.batching + stats.dead == 0 {
        warn_of_unseen(&db, &named.queue).await?;
    }
    let paused = db.paused_needs().await?.into_iter().find(|paused| paused.need == named.queue);
    if named.reach.json {
        out::json(json!({
            "queue": named.queue,
            "depth": stats.depth,
            "in_flight": stats.in_flight,
            "batching": stats.batching,
            "dead": stats.dead,
            "done_per_minute": stats.rate,
            "batches": stats.formed.batches,
            "batched": stats.formed.messages,
            "fill": stats.formed.fill(),
            "oldest_seconds": shapes::seconds(stats.oldest),
            "paused_at": shapes::moment(paused.map(|paused| paused.since)),
        }))?;
        return Ok(true);
    }
    let times = named.reach.times(&db).await?;
    let titles =
        ["queue", "depth", "in flight", "batching", "dead", "done/min", "fill", "oldest", "paused"];
    let mut table = Table::new(&titles);
    table.row([
        flat(&named.queue),
        stats.depth.to_string(),
        stats.in_flight.to_string(),
        stats.batching.to_string(),
        stats.dead.to_string(),
        stats.rate.to_string(),
        stats.formed.fill().map(|fill| format!("{fill:.1}")).unwrap_or_default(),
        stats.oldest.map(spoken).unwrap_or_default(),
        paused.map(|paused| times.at(paused.since)).unwrap_or_default(),
    ]);
    out::text(table.text())?;
    Ok(true)
}
