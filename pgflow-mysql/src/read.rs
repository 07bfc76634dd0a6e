//! A run, read.

use std::collections::HashMap;
use std::ops::DerefMut;
use std::sync::Arc;

use pgflow_backend::backend::{Parts, RunRecord, StepRecord, StepWork, TaskWork};
use pgflow_backend::store::Logged;
use pgflow_machine::{
    Entry, Payload, RunId, RunStatus, SkipReason, StepStatus, TaskStatus, Timestamp, Version,
    WorkerId,
};
use sqlx::{Connection as _, Executor as _, MySqlConnection};
use uuid::Uuid;

use crate::catalog::Begun;
use crate::claim::queue;
use crate::error::{Result, broken};
use crate::load::word;
use crate::payloads::payloads;
use crate::session::MySqlSession;

const SNAPSHOT: &str = "start transaction read only, with consistent snapshot";

const RUN: &str = "
    select flow, status, remaining_steps, started_at, ended_at, cancel_reason from pgflow_runs where id = ?";

const STEPS: &str = "
    select step, status, remaining_deps, tasks, remaining_tasks, error, skip_reason
      from pgflow_steps where run = ? order by step";

/// Tasks of started steps that are not too wide.
const TASKS: &str = "
    select t.step, t.status, cast(t.attempts - t.refunded as signed), t.worker, t.error,
           case when t.status = 'queued' and t.yielded_attempt = t.attempts then t.yield_reason end, t.ready_at
      from pgflow_steps s
      straight_join pgflow_tasks t force index (primary) on t.run = s.run and t.step = s.step
     where s.run = ? and s.status = 'started' and s.tasks <= ?
     order by t.step, t.task_index";

/// The same of some tasks of a wide map: of those first and last in its queue, and of those that workers have.
const SOME: &str = "
    select t.step, t.status, cast(t.attempts - t.refunded as signed), t.worker, t.error,
           case when t.status = 'queued' and t.yielded_attempt = t.attempts then t.yield_reason end, t.ready_at
      from (
        (select run, step, task_index from pgflow_tasks force index (pgflow_tasks_ready)
          where queue = ? and ready_at > ? order by ready_at limit ?)
        union
        (select run, step, task_index from pgflow_tasks force index (pgflow_tasks_ready)
          where queue = ? and ready_at > ? order by ready_at desc limit ?)
        union
        (select run, step, task_index from pgflow_tasks force index (pgflow_tasks_lost)
          where lost_at > ? order by lost_at desc limit ?)) k
      straight_join pgflow_tasks t force index (primary) on t.run = k.run and t.step = k.step and t.task_index = k.task_index
     where k.run = ? and k.step = ?
     order by t.task_index";

const LOG: &str = "
    select e.seq, e.at, e.entry from pgflow_events e where e.run = ? and e.seq > ? order by e.seq limit ?";

const FLOW: &str = "select flow from pgflow_runs where id = ?";

type RunColumns = (i64, String, u32, i64, Option<i64>, Option<String>);

type StepColumns = (u16, String, u32, Option<u32>, Option<u32>, Option<String>, Option<String>);

type TaskColumns = (u16, String, i64, Option<Uuid>, Option<String>, Option<String>, Option<i64>);

/// A run, with as much as is asked for, of one moment.
pub(crate) async fn record<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    run: RunId,
    parts: Parts,
) -> Result<Option<RunRecord>> {
    if parts == Parts::Run {
        return read(session, run, parts).await;
    }
    let (now, catalog) = (session.now, Arc::clone(&session.catalog));
    let begun = Begun { now, catalog, has_waits: session.has_waits, settings: session.settings };
    // For the next transaction only.
    session.connection().execute("set transaction isolation level repeatable read").await?;
    let mut snapshot = session.connection().begin_with(SNAPSHOT).await?;
    let mut inside = MySqlSession::new(&mut *snapshot, begun, false);
    let record = read(&mut inside, run, parts).await?;
    snapshot.commit().await?;
    Ok(record)
}

async fn read<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    run: RunId,
    parts: Parts,
) -> Result<Option<RunRecord>> {
    let query = sqlx::query_as(RUN).bind(run.0);
    let found: Option<RunColumns> = query.fetch_optional(session.connection()).await?;
    let Some((flow, status, remaining_steps, started_at, ended_at, cancel_reason)) = found else {
        return Ok(None);
    };
    let version = session.version(flow)?;
    let status = word(RunStatus::from_word(&status), &status)?;
    let mut steps = match parts {
        Parts::Run => Vec::new(),
        _ => steps(session, run, &version, status).await?,
    };
    let mut wanted = Vec::new();
    if parts != Parts::Steps {
        wanted.extend([(run, Payload::RunInput), (run, Payload::RunOutput)]);
    }
    if parts == Parts::Outputs {
        wanted.extend((0..steps.len()).map(|step| (run, Payload::StepOutput(step))));
    }
    let mut values =
        if wanted.is_empty() { HashMap::new() } else { payloads(session, &wanted).await? };
    for (number, step) in steps.iter_mut().enumerate() {
        step.output = values.remove(&(run, Payload::StepOutput(number)));
    }
    Ok(Some(RunRecord {
        id: run,
        flow: version.slug().to_string(),
        status,
        input: values.remove(&(run, Payload::RunInput)),
        output: values.remove(&(run, Payload::RunOutput)),
        remaining_steps,
        started_at: Timestamp::from_micros(started_at),
        ended_at: ended_at.map(Timestamp::from_micros),
        cancel_reason,
        steps,
    }))
}

async fn steps<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    run: RunId,
    version: &Version,
    status: RunStatus,
) -> Result<Vec<StepRecord>> {
    let query = sqlx::query_as(STEPS).bind(run.0);
    let rows: Vec<StepColumns> = query.fetch_all(session.connection()).await?;
    let mut works = match status {
        RunStatus::Started => works(session, run).await?,
        _ => HashMap::new(),
    };
    let mut steps = Vec::new();
    for (step, status, remaining_deps, tasks, remaining_tasks, error, skip_reason) in rows {
        let planned = version.plan.step(step.into());
        let skip_reason =
            skip_reason.map(|text| word(SkipReason::from_word(&text), &text)).transpose()?;
        steps.push(StepRecord {
            slug: planned.slug.to_string(),
            is_map: planned.is_map,
            status: word(StepStatus::from_word(&status), &status)?,
            remaining_deps,
            tasks,
            remaining_tasks,
            output: None,
            error,
            skip_reason,
            work: works.remove(&step).map(StepWork::of),
        });
    }
    for (number, step) in steps.iter_mut().enumerate() {
        let is_wide = step.tasks.is_some_and(|tasks| tasks > StepWork::MOST_TASKS);
        if status == RunStatus::Started && step.status == StepStatus::Started && is_wide {
            step.work = Some(StepWork::of(some_work(session, run, version, number).await?));
        }
    }
    Ok(steps)
}

/// Some tasks of a wide map.
async fn some_work<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    run: RunId,
    version: &Version,
    step: usize,
) -> Result<Vec<TaskWork>> {
    let (queue, some) = (queue(version, step), StepWork::SOME_TASKS);
    let mut query = sqlx::query_as(SOME);
    for _ in 0..2 {
        query = query.bind(queue).bind(i64::MIN).bind(some);
    }
    let query = query.bind(i64::MIN).bind(some).bind(run.0);
    let query = query.bind(u32::try_from(step).unwrap_or(u32::MAX));
    let rows: Vec<TaskColumns> = query.fetch_all(session.connection()).await?;
    rows.into_iter().map(|row| Ok(task_work(row)?.1)).collect()
}

/// Tasks of started steps.
async fn works<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    run: RunId,
) -> Result<HashMap<u16, Vec<TaskWork>>> {
    let query = sqlx::query_as(TASKS).bind(run.0).bind(StepWork::MOST_TASKS);
    let rows: Vec<TaskColumns> = query.fetch_all(session.connection()).await?;
    let mut works: HashMap<u16, Vec<TaskWork>> = HashMap::new();
    for row in rows {
        let (step, work) = task_work(row)?;
        works.entry(step).or_default().push(work);
    }
    Ok(works)
}

fn task_work(
    (step, status, attempts, worker, error, yielded, ready_at): TaskColumns,
) -> Result<(u16, TaskWork)> {
    let status = word(TaskStatus::from_word(&status), &status)?;
    let work = TaskWork {
        attempts: u32::try_from(attempts).unwrap_or_default(),
        worker: worker.map(WorkerId).filter(|_| status == TaskStatus::Started),
        error,
        yielded,
        ready_at: ready_at.map(Timestamp::from_micros),
        is_completed: status == TaskStatus::Completed,
    };
    Ok((step, work))
}

/// Entries of a run's log.
pub(crate) async fn log<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    run: RunId,
    after: u64,
    max: u32,
) -> Result<Option<Logged>> {
    let query = sqlx::query_scalar(FLOW).bind(run.0);
    let Some(flow) = query.fetch_optional(session.connection()).await? else { return Ok(None) };
    let version: Arc<Version> = session.version(flow)?;
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let query = sqlx::query_as(LOG).bind(run.0).bind(after).bind(max);
    let rows: Vec<(i64, i64, String)> = query.fetch_all(session.connection()).await?;
    let entry = |(seq, at, entry): (i64, i64, String)| {
        let entry: Entry = serde_json::from_str(&entry).map_err(broken)?;
        Ok((seq.unsigned_abs(), Timestamp::from_micros(at), entry))
    };
    Ok(Some(Logged { version, entries: rows.into_iter().map(entry).collect::<Result<_>>()? }))
}
