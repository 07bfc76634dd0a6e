//! Leases that last longer.

use pgflow_machine::{Beat, Lease, RunStatus, Standing, Timestamp, lost_after, promise};
use serde_json::{Value, json};

use super::Sqlite;
use super::error::Result;
use super::load::{self, Runs};
use super::tasks::Tasks;

const EXTEND: &str = "
    update pgflow_tasks set lost_at = max(lost_at, k.value ->> 1)
      from json_each(?1) k
     where pgflow_tasks.id = k.value ->> 0 and lost_at is not null";

pub(super) async fn heartbeat(sqlite: &Sqlite, leases: &[Lease]) -> Result<Vec<Beat>> {
    let mut tx = sqlite.connections.begin().await?;
    let session = sqlite.memory.session(&mut tx).await?;
    let runs = leases.iter().map(|lease| lease.task.run);
    let runs = load::runs(&mut tx, &session, runs).await?;
    let task = |lease: &Lease| Some(runs.get(&lease.task.run)?.task(&lease.task)?.1);
    let ids: Vec<_> = leases.iter().filter_map(task).collect();
    let tasks = Tasks::load(&mut tx, &ids).await?;
    let now = Timestamp::from_micros(session.now);
    let beats: Vec<_> = leases.iter().map(|lease| beat(&runs, &tasks, lease)).collect();
    let extended: Value = leases
        .iter()
        .zip(&beats)
        .filter(|(_, beat)| **beat == Beat::Extended)
        .filter_map(|(lease, _)| {
            let run = runs.get(&lease.task.run)?;
            let (step, id) = run.task(&lease.task)?;
            let step = run.version.plan.step(step);
            let lost_at = lost_after(now, Some(promise(now, step)), step);
            Some(json!([id, lost_at.micros()]))
        })
        .collect();
    sqlx::query(EXTEND).bind(extended.to_string()).execute(&mut *tx).await?;
    tx.commit().await?;
    Ok(beats)
}

fn beat(runs: &Runs, tasks: &Tasks, lease: &Lease) -> Beat {
    let Some(run) = runs.get(&lease.task.run) else { return Beat::Lost };
    let task = run.task(&lease.task).and_then(|(step, id)| Some((step, tasks.get(id)?)));
    if let Some((step, task)) = task {
        let step = run.state.steps[step].status;
        let standing =
            Standing { run: run.state.status, step, task: task.status, attempts: task.attempts };
        return standing.beat(lease.attempt);
    }
    let has_ended = matches!(run.state.status, RunStatus::Failed | RunStatus::Cancelled);
    let has_step = run.version.plan.index(&lease.task.step).is_some();
    if has_ended && has_step { Beat::Cancelled } else { Beat::Lost }
}
