//! Taking tasks.

use std::time::Duration;

use pgflow_machine::{Lease, RunId, TaskKey};
use serde_json::json;
use sqlx::SqliteConnection;

use super::Sqlite;
use super::clock::seconds;
use super::definitions::{Session, Version, step_in};
use super::error::Result;
use super::inputs::Inputs;
use super::row::row;
use crate::backend::{Claim, Claimed, ClaimedTask};

/// The first moment at which a task of these queues may be claimed.
pub(super) const NEXT: &str = "
    select min((select min(t.ready_at) from pgflow_tasks t where t.queue = q.value and t.ready_at > ?2))
      from json_each(?1) q";

/// Takes the oldest ready tasks of some queues, each `[queue, how many at most, microseconds of lease]`. Of each
/// queue only as many entries of the index are read as could be taken.
pub(super) const TAKE: &str = "
    with ready as materialized (
      select t.value ->> 0 as id, t.value ->> 1 as ready_at, q.value ->> 2 as lease
        from json_each(?1) q
        cross join json_each((
          select json_group_array(json_array(r.id, r.ready_at)) from (
            select id, ready_at from pgflow_tasks
             where queue = q.value ->> 0 and ready_at <= ?2
             order by ready_at, id limit ?3
          ) r
        )) t
       where t.key < q.value ->> 1
       order by 2, 1 limit ?3
    )
    update pgflow_tasks
       set status = 'started', ready_at = null, lost_at = ?2 + ready.lease, attempts = attempts + 1,
           started_at = ?2, worker = ?4
      from ready
     where pgflow_tasks.id = ready.id
    returning id, step, task_index, queue, attempts, input";

row! {
    /// A task that was taken.
    pub(super) struct Taken {
        pub(super) id: i64,
        pub(super) step: i64,
        task_index: u32,
        queue: i64,
        attempts: u32,
        pub(super) input: Option<String>,
    }
}

/// A step that may be claimed from.
struct Queue<'a> {
    id: i64,
    max: u32,
    version: &'a Version,
    step: usize,
}

/// Claims in a transaction of its own. Does not ask for the write lock when there is nothing to take.
pub(super) async fn claim(sqlite: &Sqlite, claim: &Claim) -> Result<Claimed> {
    let mut reading = sqlite.connections.read().await?;
    let session = sqlite.memory.session(&mut reading).await?;
    let queues = queues(&session, claim);
    let next = next_after(&mut reading, &queues, i64::MIN).await?;
    drop(reading);
    match next {
        Some(at) if at <= session.now => {}
        next => {
            return Ok(Claimed { tasks: Vec::new(), next_in: next.map(|at| until(&session, at)) });
        }
    }
    let mut tx = sqlite.connections.begin().await?;
    let session = sqlite.memory.session(&mut tx).await?;
    let claimed = claim_in(&mut tx, &session, claim).await?;
    tx.commit().await?;
    Ok(claimed)
}

/// Claims in a transaction that has the write lock.
pub(super) async fn claim_in(
    connection: &mut SqliteConnection,
    session: &Session,
    claim: &Claim,
) -> Result<Claimed> {
    let queues = queues(session, claim);
    if queues.is_empty() {
        return Ok(Claimed::default());
    }
    let mut taken = take(connection, session, claim, &queues).await?;
    taken.sort_by_key(|task| task.id);
    let is_full = taken.len() >= usize::try_from(claim.max).unwrap_or(usize::MAX);
    let next = if is_full { None } else { next_after(connection, &queues, session.now).await? };
    let mut inputs = Inputs::load(connection, session, &taken).await?;
    let tasks = taken.iter().map(|task| claimed(session, &mut inputs, task)).collect::<Result<_>>();
    Ok(Claimed { tasks: tasks?, next_in: next.map(|at| until(session, at)) })
}

async fn take(
    connection: &mut SqliteConnection,
    session: &Session,
    claim: &Claim,
    queues: &[Queue<'_>],
) -> Result<Vec<Taken>> {
    let lease =
        |queue: &Queue<'_>| seconds(queue.version.plan.step(queue.step).timeout) + seconds(2);
    let asked: Vec<_> =
        queues.iter().map(|queue| json!([queue.id, queue.max, lease(queue)])).collect();
    let taken = sqlx::query_as(TAKE)
        .bind(json!(asked).to_string())
        .bind(session.now)
        .bind(claim.max)
        .bind(claim.worker.0)
        .fetch_all(connection)
        .await?;
    Ok(taken)
}

/// The queues of the flows that are asked for, except those that the worker has no room for.
fn queues<'a>(session: &'a Session, claim: &Claim) -> Vec<Queue<'a>> {
    let versions = claim.queues.iter().filter_map(|slug| session.definitions.by_slug(slug));
    let steps = versions
        .flat_map(|version| (0..version.plan.steps().len()).map(move |step| (version, step)));
    let queue = |(version, step): (&'a std::sync::Arc<Version>, usize)| Queue {
        id: version.queue(step),
        max: quota(claim, version, step),
        version,
        step,
    };
    steps.map(queue).filter(|queue| queue.max > 0).collect()
}

fn quota(claim: &Claim, version: &Version, step: usize) -> u32 {
    let is_meant = |flow: &str, slug: &str| {
        flow == &**version.slug() && slug == &*version.plan.step(step).slug
    };
    let quotas = claim.quotas.iter().filter(|quota| is_meant(&quota.flow, &quota.step));
    quotas.map(|quota| quota.max).min().unwrap_or(claim.max).min(claim.max)
}

async fn next_after(
    connection: &mut SqliteConnection,
    queues: &[Queue<'_>],
    after: i64,
) -> Result<Option<i64>> {
    let ids: Vec<_> = queues.iter().map(|queue| queue.id).collect();
    let next = sqlx::query_scalar(NEXT).bind(json!(ids).to_string()).bind(after);
    Ok(next.fetch_one(connection).await?)
}

fn until(session: &Session, at: i64) -> Duration {
    Duration::from_micros(at.saturating_sub(session.now).try_into().unwrap_or(0))
}

fn claimed(session: &Session, inputs: &mut Inputs, task: &Taken) -> Result<ClaimedTask> {
    let version = session.definitions.by_id(task.queue / super::definitions::SPAN)?;
    let step = version.plan.step(step_in(task.queue));
    let run: RunId = inputs.run(task.step)?;
    Ok(ClaimedTask {
        flow: version.slug().to_string(),
        timeout: Duration::from_secs(step.timeout.into()),
        lease: Lease {
            task: TaskKey { run, step: step.slug.to_string(), index: task.task_index },
            attempt: task.attempts,
        },
        input: inputs.of(task)?,
    })
}
