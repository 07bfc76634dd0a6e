//! What was decided about messages and permits. Claims and settles are about few of them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::DerefMut;

use pgflow_backend::backend::{Hold, MessageRow, TaskHold};
use pgflow_machine::job::{JobId, JobOutcome, JobToken};
use pgflow_machine::permit::{PermitKey, Units};
use pgflow_machine::{TaskLease, TaskRef, Timestamp, outlives};
use serde_json::{Value, json};
use sqlx::MySqlConnection;
use uuid::Uuid;

use crate::error::{Result, broken};
use crate::session::MySqlSession;

const PERMIT: &str = "
    insert into pgflow_permits (kind, name, state) values (?, ?, ?)
        on duplicate key update state = values(state)";

const ROUND: &str = "select state from pgflow_permits where kind = 'round' and name = ?";

const DROP_TURNS: &str = "
    delete from pgflow_permits
     where kind = 'turn' and name >= ? and name < ? and cast(state as unsigned) <= ? limit ?";

const STALE: &str = "
    delete h from pgflow_permit_holds h
      left join pgflow_job_leases l on l.job = h.job and l.token = h.token
     where h.resource = ? and l.job is null";

const HOLD: &str = "
    insert into pgflow_permit_holds (resource, job, token, batch, units, fence) values (?, ?, ?, ?, ?, ?)";

/// Looked for without a lock: a delete that joins would wait for whoever has those runs.
const STALE_OF_TASKS: &str = "
    select h.run, h.step, h.task_index, h.attempt from pgflow_task_holds h
      left join pgflow_tasks t on t.run = h.run and t.step = h.step and t.task_index = h.task_index
                              and t.status = 'started' and t.attempts = h.attempt
      left join pgflow_steps s on s.run = t.run and s.step = t.step
      left join pgflow_runs r on r.id = t.run
     where h.resource = ?
       and (t.run is null
            or (r.status <> 'started' or s.status <> 'started') and coalesce(s.ended_at, r.ended_at) + h.lasts <= ?)";

const FORGET_TASK_HOLD: &str = "
    delete from pgflow_task_holds where resource = ? and run = ? and step = ? and task_index = ? and attempt = ?";

const TASK_HOLD: &str = "
    insert into pgflow_task_holds (resource, run, step, task_index, attempt, units, fence, lasts) values (?, ?, ?, ?, ?, ?, ?, ?)";

const HELD_BY_TASK: &str = "
    select resource from pgflow_task_holds force index (pgflow_task_holds_task)
     where run = ? and step = ? and task_index = ? and attempt = ?";

const HELD_BY: &str = "select resource from pgflow_permit_holds where token = ?";

const DROP_HOLD: &str = "delete from pgflow_permit_holds where token = ?";

const MESSAGE: &str = "
    insert into pgflow_messages (job, batch_key, resources, not_before, need, urgency, seq)
    select k.job, k.batch_key, k.resources, k.not_before, j.need, j.urgency, j.seq
      from (select ? as job, ? as batch_key, ? as resources, ? as not_before) k left join pgflow_jobs j on j.id = k.job
        on duplicate key update
           batch_key = values(batch_key), resources = values(resources), not_before = values(not_before),
           need = values(need), urgency = values(urgency), seq = values(seq)";

const DEFER: &str = "
    insert into pgflow_messages (job, not_before) values (?, ?)
        on duplicate key update not_before = values(not_before)";

const DROP_MESSAGE: &str = "delete from pgflow_messages where job = ?";

const FORGET: &str = "delete from pgflow_job_archive where id = ? and find_in_set(outcome, ?)";

const FORGET_TRACE: &str = "delete from pgflow_job_trace where job = ?";

pub(crate) async fn write_permits<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    rows: &BTreeMap<PermitKey, Value>,
) -> Result<()> {
    for (key, state) in rows {
        let query = sqlx::query(PERMIT).bind(key.kind.word()).bind(key.name.as_bytes());
        query.bind(state.to_string()).execute(session.connection()).await?;
    }
    Ok(())
}

pub(crate) async fn add_holds<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    holds: &[Hold],
) -> Result<()> {
    let resources: BTreeSet<_> = holds.iter().map(|hold| hold.resource.as_bytes()).collect();
    for resource in resources {
        sqlx::query(STALE).bind(resource).execute(session.connection()).await?;
    }
    for hold in holds {
        let query = sqlx::query(HOLD).bind(hold.resource.as_bytes()).bind(hold.job);
        let query = query.bind(&hold.token).bind(&hold.batch).bind(hold.units);
        let fence = i64::try_from(hold.fence).unwrap_or(i64::MAX);
        query.bind(fence).execute(session.connection()).await?;
    }
    Ok(())
}

pub(crate) async fn add_task_holds<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    holds: &[TaskHold],
) -> Result<()> {
    let resources: BTreeSet<_> = holds.iter().map(|hold| hold.resource.as_bytes()).collect();
    for resource in resources {
        let query = sqlx::query_as(STALE_OF_TASKS).bind(resource).bind(session.now.micros());
        let stale: Vec<AttemptAt> = query.fetch_all(session.connection()).await?;
        for attempt in stale {
            forget_task_hold(session, resource, attempt).await?;
        }
    }
    for hold in holds {
        let TaskLease { task, attempt } = &hold.lease;
        let version = session.catalog.by_slug(&hold.flow);
        let found = version.and_then(|it| {
            let step = it.plan.index(&task.step)?;
            Some((outlives(it.plan.step(step)), u16::try_from(step).ok()?))
        });
        let (lasts, step) =
            found.ok_or_else(|| broken(format!("there is no step {}", task.step)))?;
        let query = sqlx::query(TASK_HOLD).bind(hold.resource.as_bytes()).bind(task.run.0);
        let query = query.bind(step).bind(task.index).bind(attempt).bind(hold.units);
        let fence = i64::try_from(hold.fence).unwrap_or(i64::MAX);
        let lasts = i64::try_from(lasts.as_micros()).unwrap_or(i64::MAX);
        query.bind(fence).bind(lasts).execute(session.connection()).await?;
    }
    Ok(())
}

/// Run, step, index, attempt.
type AttemptAt = (Uuid, u16, u32, u32);

async fn forget_task_hold<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    resource: &[u8],
    (run, step, index, attempt): AttemptAt,
) -> Result<()> {
    let query = sqlx::query(FORGET_TASK_HOLD).bind(resource).bind(run).bind(step);
    query.bind(index).bind(attempt).execute(session.connection()).await?;
    Ok(())
}

pub(crate) async fn drop_task_holds<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    attempts: &[(TaskRef, u32)],
) -> Result<BTreeSet<String>> {
    let mut dropped = BTreeSet::new();
    for (at, attempt) in attempts {
        let attempt = (at.run.0, u16::try_from(at.step).map_err(broken)?, at.index, *attempt);
        let query = sqlx::query_scalar(HELD_BY_TASK).bind(attempt.0).bind(attempt.1);
        let query = query.bind(attempt.2).bind(attempt.3);
        let held: Vec<Vec<u8>> = query.fetch_all(session.connection()).await?;
        for resource in held {
            forget_task_hold(session, &resource, attempt).await?;
            dropped.insert(String::from_utf8(resource).map_err(broken)?);
        }
    }
    Ok(dropped)
}

pub(crate) async fn drop_holds<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    tokens: &[JobToken],
) -> Result<BTreeSet<String>> {
    let mut freed = BTreeSet::new();
    for token in tokens {
        let query = sqlx::query_scalar(HELD_BY).bind(&token.0);
        let held: Vec<Vec<u8>> = query.fetch_all(session.connection()).await?;
        if !held.is_empty() {
            sqlx::query(DROP_HOLD).bind(&token.0).execute(session.connection()).await?;
        }
        for resource in held {
            freed.insert(String::from_utf8(resource).map_err(broken)?);
        }
    }
    Ok(freed)
}

pub(crate) async fn drop_turns<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    queue: &str,
    max: u32,
) -> Result<u64> {
    let query = sqlx::query_scalar(ROUND).bind(queue.as_bytes());
    let round: Option<String> = query.fetch_optional(session.connection()).await?;
    let Some(round) = round else { return Ok(0) };
    let round: u64 = serde_json::from_str(&round).map_err(broken)?;
    let turns = PermitKey::turns_of(queue);
    let query = sqlx::query(DROP_TURNS).bind(turns.start.name.into_bytes());
    let query = query.bind(turns.end.name.into_bytes()).bind(round).bind(max);
    Ok(query.execute(session.connection()).await?.rows_affected())
}

pub(crate) async fn write_messages<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    rows: &BTreeMap<JobId, MessageRow>,
) -> Result<()> {
    let units = |units: &Units| (!units.is_empty()).then(|| json!(units).to_string());
    for (id, row) in rows {
        let query = sqlx::query(MESSAGE).bind(id.as_str().as_bytes());
        let query = query.bind(row.batch_key.as_deref().map(str::as_bytes));
        let query = query.bind(units(&row.resources)).bind(row.not_before.map(Timestamp::micros));
        query.execute(session.connection()).await?;
    }
    Ok(())
}

pub(crate) async fn defer<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    until: &BTreeMap<JobId, Timestamp>,
) -> Result<()> {
    for (id, until) in until {
        let query = sqlx::query(DEFER).bind(id.as_str().as_bytes()).bind(until.micros());
        query.execute(session.connection()).await?;
    }
    Ok(())
}

pub(crate) async fn drop_messages<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    messages: &[JobId],
) -> Result<()> {
    for id in messages {
        let query = sqlx::query(DROP_MESSAGE).bind(id.as_str().as_bytes());
        query.execute(session.connection()).await?;
    }
    Ok(())
}

pub(crate) async fn forget_dead<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    jobs: &[JobId],
) -> Result<u64> {
    let (mut forgotten, outcomes) = (0, JobOutcome::DEAD.map(JobOutcome::word).join(","));
    for id in jobs {
        let name = id.as_str().as_bytes();
        let query = sqlx::query(FORGET).bind(name).bind(&outcomes);
        let dead = query.execute(session.connection()).await?;
        if dead.rows_affected() > 0 {
            forgotten += 1;
            for delete in [FORGET_TRACE, DROP_MESSAGE] {
                sqlx::query(delete).bind(name).execute(session.connection()).await?;
            }
        }
    }
    Ok(forgotten)
}
