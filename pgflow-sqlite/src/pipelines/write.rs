//! What was decided about messages and permits, with a statement each.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use pgflow_backend::backend::{Hold, MessageRow, TaskHold};
use pgflow_machine::job::{JobId, JobOutcome, JobToken};
use pgflow_machine::permit::{PermitKey, Units};
use pgflow_machine::{TaskLease, TaskRef, Timestamp, outlives};
use serde_json::{Value, json};

use super::look::task_holds;
use super::parameter;
use crate::definitions::place;
use crate::error::{Result, broken};
use crate::session::{Conn, SqliteSession};

const PERMITS: &str = "
    insert into pgflow_permits (kind, name, state)
    select value ->> 0, value ->> 1, value ->> 2 from json_each(?1)
     where true on conflict (kind, name) do update set state = excluded.state";

const DROP_TURNS: &str = "
    delete from pgflow_permits where kind = 'turn' and name in (
      select name from pgflow_permits
       where kind = 'turn' and name >= ?1 and name < ?2
         and cast(state as integer) <= (select cast(state as integer) from pgflow_permits where kind = 'round' and name = ?3)
       limit ?4)";

const STALE: &str = "
    delete from pgflow_permit_holds
     where resource in (select value from json_each(?1))
       and not exists (select 1 from pgflow_job_leases l
                        where l.job = pgflow_permit_holds.job and l.token = pgflow_permit_holds.token)";

const HOLDS: &str = "
    insert into pgflow_permit_holds (resource, job, token, batch, units, fence)
    select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5 from json_each(?1)";

const STALE_OF_TASKS: &str = concat!(
    "delete from pgflow_task_holds
      where resource in (select value from json_each(?1))
        and (resource, run, step, task_index) not in (select h.resource, h.run, h.step, h.task_index from ",
    task_holds!(),
    ")"
);

const TASK_HOLD: &str = "
    insert into pgflow_task_holds (resource, run, step, task_index, attempt, units, fence, lasts)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";

const DROP_TASK_HOLDS: &str = "
    delete from pgflow_task_holds where run = ?1 and step = ?2 and task_index = ?3 and attempt = ?4 returning resource";

const DROP_HOLDS: &str = "delete from pgflow_permit_holds where token in (select value from json_each(?1)) returning resource";

const MESSAGES: &str = "
    insert into pgflow_messages (job, batch_key, resources, not_before, need, priority, seq)
    select k.value ->> 0, k.value ->> 1, k.value ->> 2, k.value ->> 3, j.need, j.priority, j.seq
      from json_each(?1) k left join pgflow_jobs j on j.id = k.value ->> 0
     where true on conflict (job) do update
       set batch_key = excluded.batch_key, resources = excluded.resources, not_before = excluded.not_before,
           need = excluded.need, priority = excluded.priority, seq = excluded.seq";

const DEFER: &str = "
    insert into pgflow_messages (job, not_before) select value ->> 0, value ->> 1 from json_each(?1)
     where true on conflict (job) do update set not_before = excluded.not_before";

const DROP_MESSAGES: &str =
    "delete from pgflow_messages where job in (select value from json_each(?1))";

const DEAD: &str = "
    select a.id from json_each(?1) k cross join pgflow_job_archive a on a.id = k.value
     where a.outcome in (select value from json_each(?2))";

const FORGET: [&str; 3] = [
    "delete from pgflow_job_archive where id in (select value from json_each(?1))",
    "delete from pgflow_job_trace where job in (select value from json_each(?1))",
    DROP_MESSAGES,
];

/// Executes a statement for rows; says how many it changed.
async fn execute<C: Conn>(
    session: &mut SqliteSession<C>,
    sql: &'static str,
    rows: impl IntoIterator<Item = Value>,
) -> Result<u64> {
    let query = sqlx::query(sql).bind(parameter(rows));
    Ok(query.execute(&mut *session.connection).await?.rows_affected())
}

pub(super) async fn permits<C: Conn>(
    session: &mut SqliteSession<C>,
    rows: &BTreeMap<PermitKey, Value>,
) -> Result<()> {
    let rows = rows.iter().map(|(key, state)| json!([key.kind, key.name, state.to_string()]));
    execute(session, PERMITS, rows).await.map(drop)
}

pub(super) async fn drop_turns<C: Conn>(
    session: &mut SqliteSession<C>,
    queue: &str,
    max: u32,
) -> Result<u64> {
    let turns = PermitKey::turns_of(queue);
    let query = sqlx::query(DROP_TURNS).bind(turns.start.name).bind(turns.end.name);
    let query = query.bind(queue).bind(max);
    Ok(query.execute(&mut *session.connection).await?.rows_affected())
}

pub(super) async fn add_holds<C: Conn>(
    session: &mut SqliteSession<C>,
    holds: &[Hold],
) -> Result<()> {
    let resources: BTreeSet<_> = holds.iter().map(|hold| hold.resource.as_str()).collect();
    execute(session, STALE, resources.into_iter().map(Value::from)).await?;
    let row = |hold: &Hold| {
        json!([hold.resource, hold.job, hold.token, hold.batch, hold.units, hold.fence])
    };
    execute(session, HOLDS, holds.iter().map(row)).await.map(drop)
}

pub(super) async fn add_task_holds<C: Conn>(
    session: &mut SqliteSession<C>,
    holds: &[TaskHold],
) -> Result<()> {
    let resources: BTreeSet<_> = holds.iter().map(|hold| hold.resource.as_str()).collect();
    let stale = sqlx::query(STALE_OF_TASKS).bind(parameter(resources.into_iter().map(Value::from)));
    stale.bind(session.now.micros()).execute(&mut *session.connection).await?;
    for hold in holds {
        let TaskLease { task, attempt } = &hold.lease;
        let version = session.catalog.by_slug(&hold.flow);
        let found = version.and_then(|it| Some((it, it.plan.index(&task.step)?)));
        let (version, step) =
            found.ok_or_else(|| broken(format!("there is no step {}", task.step)))?;
        let lasts = micros(outlives(version.plan.step(step)));
        let query = sqlx::query(TASK_HOLD).bind(&hold.resource).bind(task.run.0);
        let query = query.bind(place(step)).bind(task.index).bind(attempt).bind(hold.units);
        let fence = i64::try_from(hold.fence).unwrap_or(i64::MAX);
        query.bind(fence).bind(lasts).execute(&mut *session.connection).await?;
    }
    Ok(())
}

fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

pub(crate) async fn drop_task_holds<C: Conn>(
    session: &mut SqliteSession<C>,
    attempts: &[(TaskRef, u32)],
) -> Result<BTreeSet<String>> {
    let mut dropped = BTreeSet::new();
    for (at, attempt) in attempts {
        let query = sqlx::query_scalar(DROP_TASK_HOLDS).bind(at.run.0).bind(place(at.step));
        let query = query.bind(at.index).bind(attempt);
        let held: Vec<String> = query.fetch_all(&mut *session.connection).await?;
        dropped.extend(held);
    }
    Ok(dropped)
}

pub(super) async fn drop_holds<C: Conn>(
    session: &mut SqliteSession<C>,
    tokens: &[JobToken],
) -> Result<BTreeSet<String>> {
    let tokens = parameter(tokens.iter().map(|token| json!(token)));
    let query = sqlx::query_scalar(DROP_HOLDS).bind(tokens);
    Ok(query.fetch_all(&mut *session.connection).await?.into_iter().collect())
}

pub(super) async fn messages<C: Conn>(
    session: &mut SqliteSession<C>,
    rows: &BTreeMap<JobId, MessageRow>,
) -> Result<()> {
    let units = |units: &Units| (!units.is_empty()).then(|| json!(units).to_string());
    let row = |(id, row): (&JobId, &MessageRow)| {
        json!([id, row.batch_key, units(&row.resources), row.not_before])
    };
    execute(session, MESSAGES, rows.iter().map(row)).await.map(drop)
}

pub(super) async fn defer<C: Conn>(
    session: &mut SqliteSession<C>,
    until: &BTreeMap<JobId, Timestamp>,
) -> Result<()> {
    execute(session, DEFER, until.iter().map(|(id, until)| json!([id, until]))).await.map(drop)
}

pub(super) async fn drop_messages<C: Conn>(
    session: &mut SqliteSession<C>,
    messages: &[JobId],
) -> Result<()> {
    execute(session, DROP_MESSAGES, messages.iter().map(|id| json!(id))).await.map(drop)
}

pub(super) async fn forget_dead<C: Conn>(
    session: &mut SqliteSession<C>,
    jobs: &[JobId],
) -> Result<u64> {
    let asked = parameter(jobs.iter().map(|id| json!(id)));
    let dead: Vec<String> = sqlx::query_scalar(DEAD)
        .bind(asked)
        .bind(json!(JobOutcome::DEAD).to_string())
        .fetch_all(&mut *session.connection)
        .await?;
    for delete in FORGET {
        execute(session, delete, dead.iter().map(|id| json!(id))).await?;
    }
    Ok(dead.len() as u64)
}
