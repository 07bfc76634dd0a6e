//! Taking tasks back from workers that are gone.

use std::collections::BTreeSet;

use pgflow_machine::{MAX_REQUEUES, stalled_error};
use serde_json::{Value, json};
use sqlx::SqliteConnection;

use super::Sqlite;
use super::definitions::{SPAN, Session, step_in};
use super::error::Result;
use super::load::{self, Runs};
use super::row::row;
use super::settle::exhaust;
use super::write::{Writes, is_live};
use crate::backend::Swept;

/// Tasks that one transaction looks at.
const BATCH: u32 = 1000;

const IS_ANY_LOST: &str = "
    select exists (
      select 1 from pgflow_tasks
       where lost_at < cast(round(unixepoch('subsec') * 1e3) as integer) * 1000
    )";

pub(super) const LOST: &str = "
    select id, step, task_index, losses from pgflow_tasks where lost_at < ?1 order by lost_at limit ?2";

/// A worker was lost: the task is queued again, or stays as it is: `[id, when it may be claimed]`.
const LOSE: &str = "
    update pgflow_tasks
       set losses = losses + 1, lost_at = null, ready_at = k.value ->> 1,
           status = iif(k.value ->> 1 is null, status, 'queued'),
           started_at = iif(k.value ->> 1 is null, started_at, null),
           worker = iif(k.value ->> 1 is null, worker, null),
           error = coalesce(k.value ->> 2, error)
      from json_each(?1) k
     where pgflow_tasks.id = k.value ->> 0";

row! {
    struct Lost {
        id: i64,
        step: i64,
        task_index: u32,
        losses: u32,
    }
}

pub(super) async fn sweep(sqlite: &Sqlite) -> Result<Swept> {
    let mut swept = Swept::default();
    loop {
        // Nearly always nothing is lost; then nobody is kept from writing.
        let mut reading = sqlite.connections.read().await?;
        let is_any: bool = sqlx::query_scalar(IS_ANY_LOST).fetch_one(&mut *reading).await?;
        drop(reading);
        if !is_any {
            return Ok(swept);
        }
        let mut tx = sqlite.connections.begin().await?;
        let session = sqlite.memory.session(&mut tx).await?;
        let query = sqlx::query_as(LOST).bind(session.now).bind(BATCH);
        let lost: Vec<Lost> = query.fetch_all(&mut *tx).await?;
        let is_whole = lost.len() < BATCH as usize;
        let (requeued, runs) = take_back(&mut tx, &session, lost).await?;
        tx.commit().await?;
        swept.requeued += requeued;
        for run in runs.values() {
            sqlite.hints.flow(run.version.slug());
        }
        if is_whole {
            return Ok(swept);
        }
    }
}

/// Ends steps that lost too many, then queues what is left.
async fn take_back(
    connection: &mut SqliteConnection,
    session: &Session,
    lost: Vec<Lost>,
) -> Result<(u64, Runs)> {
    let ids: BTreeSet<_> = lost.iter().map(|task| task.step / SPAN).collect();
    let mut runs = load::runs_by_id(connection, session, &ids).await?;
    let mut writes = Writes::default();
    let (hopeless, others): (Vec<_>, Vec<_>) =
        lost.into_iter().partition(|task| task.losses >= MAX_REQUEUES);
    let mut rows = Vec::new();
    for (run_id, step, task) in in_order(&runs, hopeless) {
        let Some(run) = runs.get_mut(&run_id).filter(|run| is_live(run, step)) else { continue };
        let error = stalled_error(task.task_index, task.losses);
        let change = exhaust(connection, run, step, &error).await?;
        writes.add(run, change);
        rows.push(json!([task.id, null, error]));
    }
    let is_waited_for = |task: &Lost| {
        let mut all = runs.values();
        all.any(|run| run.id == task.step / SPAN && is_live(run, step_in(task.step)))
    };
    let others: Vec<_> = others.into_iter().filter(is_waited_for).collect();
    let requeued = others.len() as u64;
    rows.extend(others.iter().map(|task| json!([task.id, session.now, null])));
    let query = sqlx::query(LOSE).bind(Value::Array(rows).to_string());
    query.execute(&mut *connection).await?;
    writes.flush(connection, session, runs.values_mut()).await?;
    Ok((requeued, runs))
}

/// Lost tasks by run, step and index.
fn in_order(runs: &Runs, lost: Vec<Lost>) -> Vec<(pgflow_machine::RunId, usize, Lost)> {
    let mut found: Vec<_> = lost
        .into_iter()
        .filter_map(|task| {
            let (id, run) = runs.iter().find(|(_, run)| run.id == task.step / SPAN)?;
            let step = step_in(task.step);
            let slug = run.version.plan.step(step).slug.clone();
            Some(((*id, slug, task.task_index), step, task))
        })
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found.into_iter().map(|((id, ..), step, task)| (id, step, task)).collect()
}
