//! Tasks that a worker holds and does not know of.

use std::collections::{BTreeSet, HashSet};

use pgflow_machine::{Lease, Settle, Settled, TaskKey, Verdict, WorkerId};
use serde_json::json;
use sqlx::SqliteConnection;

use super::Sqlite;
use super::definitions::{SPAN, Session, step_in};
use super::error::Result;
use super::load;
use super::row::row;
use super::settle::settle_in;

/// What a worker holds of some flows. There are never more held tasks than all workers have room for.
pub(super) const HELD: &str = "
    select step, task_index, attempts from pgflow_tasks
     where lost_at > 0 and worker = ?1 and queue >> 16 in (select value from json_each(?2))";

row! {
    struct Held {
        step: i64,
        task_index: u32,
        attempts: u32,
    }
}

pub(super) async fn release_unknown(
    sqlite: &Sqlite,
    worker: WorkerId,
    queues: &[String],
    known: &[Lease],
) -> Result<u64> {
    let mut tx = sqlite.connections.begin().await?;
    let session = sqlite.memory.session(&mut tx).await?;
    let known: HashSet<&Lease> = known.iter().collect();
    let held = held(&mut tx, &session, worker, queues).await?;
    let unknown = held.into_iter().filter(|lease| !known.contains(lease));
    let settles: Vec<_> =
        unknown.map(|lease| Settle { lease, verdict: Verdict::Released }).collect();
    let (outcomes, news) = settle_in(&mut tx, &session, &settles).await?;
    tx.commit().await?;
    sqlite.hints.flows(&news);
    Ok(outcomes.iter().filter(|outcome| **outcome == Settled::Applied).count() as u64)
}

/// What a worker holds tasks of these queues with.
async fn held(
    connection: &mut SqliteConnection,
    session: &Session,
    worker: WorkerId,
    queues: &[String],
) -> Result<Vec<Lease>> {
    let flows = queues.iter().filter_map(|slug| session.definitions.by_slug(slug));
    let flows: Vec<_> = flows.map(|version| version.id).collect();
    let query = sqlx::query_as(HELD).bind(worker.0).bind(json!(flows).to_string());
    let held: Vec<Held> = query.fetch_all(&mut *connection).await?;
    let runs: BTreeSet<_> = held.iter().map(|task| task.step / SPAN).collect();
    let runs = load::runs_by_id(connection, session, &runs).await?;
    let lease = |task: Held| {
        let (id, run) = runs.iter().find(|(_, run)| run.id == task.step / SPAN)?;
        let step = run.version.plan.step(step_in(task.step)).slug.to_string();
        let key = TaskKey { run: *id, step, index: task.task_index };
        Some(Lease { task: key, attempt: task.attempts })
    };
    Ok(held.into_iter().filter_map(lease).collect())
}
