//! What claims find.

use std::collections::{BTreeMap, BTreeSet};

use pgflow_backend::backend::{Hold, MessageRow};
use pgflow_machine::Timestamp;
use pgflow_machine::job::JobId;
use pgflow_machine::permit::{PermitKey, PermitKind, Place, Units, Waiting};
use serde_json::{Value, json};

use super::parameter;
use crate::error::{Result, broken};
use crate::load::word;
use crate::row::row;
use crate::session::{Conn, SqliteSession};

const PERMITS: &str = "
    select p.kind, p.name, p.state
      from json_each(?1) k
      cross join pgflow_permits p on p.kind = k.value ->> 0 and p.name = k.value ->> 1";

const OF_KIND: &str = "select name, state from pgflow_permits where kind = ?1";

/// What attempts at tasks hold that may be worked on: they go on, or nothing was heard of them since their steps or runs ended. Of
/// resources (`?1`), at a moment (`?2`).
macro_rules! task_holds {
    () => {

"json_each(?1) k
      cross join pgflow_task_holds h on h.resource = k.value
      cross join pgflow_runs r on r.run_id = h.run
      cross join pgflow_steps s on s.id = (r.id << 16) + h.step
      cross join pgflow_tasks t on t.id = s.first_task + h.task_index and t.status = 'started' and t.attempts = h.attempt
                               and (r.status = 'started' and s.status = 'started'
                                    or coalesce(s.ended_at, r.ended_at) + h.lasts > ?2)"
    };
}
pub(super) use task_holds;

const HOLDS: &str = concat!(
    "select h.resource, h.job, h.token, h.batch, h.units, h.fence
      from json_each(?1) k
      cross join pgflow_permit_holds h on h.resource = k.value
      cross join pgflow_job_leases l on l.job = h.job and l.token = h.token
    union all
    select h.resource, 0, hex(h.run) || '/' || h.step || '/' || h.task_index || '/' || h.attempt,
           hex(h.run) || '/' || h.step || '/' || h.task_index || '/' || h.attempt, h.units, h.fence
      from ",
    task_holds!()
);

/// The first of a queue, as far as the index goes: their order is its order.
macro_rules! waiting {
    ($after:literal) => {
        concat!(
            "select j.id, j.priority, j.seq, coalesce(j.wake_at, j.created_at) as since,
                    octet_length(j.payload) as bytes, m.batch_key, m.resources, m.not_before, j.streak
               from pgflow_jobs j left join pgflow_messages m on m.job = j.id
              where j.need = ?1 and j.state = 'ready' and (j.expires_at is null or j.expires_at > ?2)",
            $after,
            " order by j.priority desc, j.seq limit ?3"
        )
    };
}

const FIRST: &str = waiting!("");
const MORE: &str = waiting!(" and j.priority <= ?4 and (j.priority < ?4 or j.seq > ?5)");

/// Of one key: the copies say where its jobs are, and the jobs whether they can be had. Many that cannot are not read through.
macro_rules! of_key {
    ($after:literal) => {
        concat!(
            "select j.id, j.priority, j.seq, coalesce(j.wake_at, j.created_at) as since,
                    octet_length(j.payload) as bytes, m.batch_key, m.resources, m.not_before, j.streak
               from (
                 select job, batch_key, resources, not_before from pgflow_messages
                  where need = ?1 and batch_key = ?4",
            $after,
            "     order by priority desc, seq limit ?3 + 200
               ) m cross join pgflow_jobs j on j.id = m.job
              where j.need = ?1 and j.state = 'ready' and (j.expires_at is null or j.expires_at > ?2)
              limit ?3"
        )
    };
}

const FIRST_OF_KEY: &str = of_key!("");
const MORE_OF_KEY: &str = of_key!(" and priority <= ?5 and (priority < ?5 or seq > ?6)");

/// Each from its index.
const DEPTH: &str = "
    select (select count(*) from (select 1 from pgflow_jobs where need = ?1 and state = 'ready' limit ?2))
         + (select count(*) from (select 1 from pgflow_jobs where need = ?1 and state = 'sleeping' limit ?2))
         + (select count(*) from (select 1 from pgflow_jobs where need = ?1 and state = 'parked' limit ?2))";

const CHANGE: &str = "
    select min(at) from (
      select min(wake_at) as at from pgflow_jobs where need = ?1 and state = 'sleeping'
       union all
      select * from (
        select l.until from pgflow_job_leases l cross join pgflow_jobs j on j.seq = l.job
         where j.need = ?1 or exists (
           select 1 from pgflow_jobs p where p.key = j.key and p.state = 'parked' and p.need = ?1)
         order by l.until limit 1)
    )";

row! {
    struct FoundHold {
        resource: String,
        job: i64,
        token: String,
        batch: String,
        units: u32,
        fence: i64,
    }
}

row! {
    struct FoundMessage {
        id: String,
        priority: i32,
        seq: i64,
        since: i64,
        bytes: i64,
        batch_key: Option<String>,
        resources: Option<String>,
        not_before: Option<i64>,
        streak: u32,
    }
}

pub(super) async fn permits<C: Conn>(
    session: &mut SqliteSession<C>,
    keys: &BTreeSet<PermitKey>,
) -> Result<BTreeMap<PermitKey, Value>> {
    let wanted = parameter(keys.iter().map(|key| json!([key.kind, key.name])));
    let found: Vec<(String, String, String)> =
        sqlx::query_as(PERMITS).bind(wanted).fetch_all(&mut *session.connection).await?;
    let permit = |(kind, name, state): (String, String, String)| {
        let kind = word(PermitKind::from_word(&kind), &kind)?;
        Ok((PermitKey { kind, name }, serde_json::from_str(&state).map_err(broken)?))
    };
    found.into_iter().map(permit).collect()
}

type KeptMessage = (Option<String>, Option<String>, Option<i64>);

const MESSAGE: &str = "select batch_key, resources, not_before from pgflow_messages where job = ?1";

pub(super) async fn kept<C: Conn>(
    session: &mut SqliteSession<C>,
    id: &JobId,
) -> Result<Option<MessageRow>> {
    let query = sqlx::query_as(MESSAGE).bind(id.as_str());
    let found: Option<KeptMessage> = query.fetch_optional(&mut *session.connection).await?;
    let Some((batch_key, resources, not_before)) = found else { return Ok(None) };
    let not_before = not_before.map(Timestamp::from_micros);
    Ok(Some(MessageRow { batch_key, resources: units(resources.as_deref())?, not_before }))
}

fn units(resources: Option<&str>) -> Result<Units> {
    Ok(resources.map(serde_json::from_str).transpose().map_err(broken)?.unwrap_or_default())
}

pub(super) async fn permits_of<C: Conn>(
    session: &mut SqliteSession<C>,
    kind: PermitKind,
) -> Result<BTreeMap<String, Value>> {
    let found: Vec<(String, String)> =
        sqlx::query_as(OF_KIND).bind(kind.word()).fetch_all(&mut *session.connection).await?;
    let permit =
        |(name, state): (_, String)| Ok((name, serde_json::from_str(&state).map_err(broken)?));
    found.into_iter().map(permit).collect()
}

pub(super) async fn holds<C: Conn>(
    session: &mut SqliteSession<C>,
    resources: &BTreeSet<String>,
) -> Result<Vec<Hold>> {
    let wanted = parameter(resources.iter().map(|slug| json!(slug)));
    let found: Vec<FoundHold> = sqlx::query_as(HOLDS)
        .bind(wanted)
        .bind(session.now.micros())
        .fetch_all(&mut *session.connection)
        .await?;
    let hold = |found: FoundHold| Hold {
        resource: found.resource,
        job: found.job,
        token: found.token,
        batch: found.batch,
        units: found.units,
        fence: found.fence.unsigned_abs(),
    };
    Ok(found.into_iter().map(hold).collect())
}

pub(super) async fn waiting<C: Conn>(
    session: &mut SqliteSession<C>,
    need: &str,
    after: Option<(i32, i64)>,
    max: u32,
) -> Result<Vec<Waiting>> {
    let sql = if after.is_some() { MORE } else { FIRST };
    let mut query = sqlx::query_as(sql).bind(need).bind(session.now.micros()).bind(max);
    if let Some((priority, seq)) = after {
        query = query.bind(priority).bind(seq);
    }
    let found: Vec<FoundMessage> = query.fetch_all(&mut *session.connection).await?;
    found.into_iter().map(message).collect()
}

fn message(found: FoundMessage) -> Result<Waiting> {
    Ok(Waiting {
        job: JobId::from_stored(found.id),
        priority: found.priority,
        seq: found.seq,
        since: Timestamp::from_micros(found.since),
        bytes: found.bytes.unsigned_abs(),
        batch_key: found.batch_key,
        resources: units(found.resources.as_deref())?,
        not_before: found.not_before.map(Timestamp::from_micros),
        streak: found.streak,
    })
}

pub(super) async fn waiting_of<C: Conn>(
    session: &mut SqliteSession<C>,
    need: &str,
    keys: &[String],
    after: Option<Place>,
    max: u32,
) -> Result<Vec<Waiting>> {
    let sql = if after.is_some() { MORE_OF_KEY } else { FIRST_OF_KEY };
    let mut all = Vec::new();
    for key in keys {
        let mut query =
            sqlx::query_as(sql).bind(need).bind(session.now.micros()).bind(max).bind(key);
        if let Some((priority, seq)) = after {
            query = query.bind(priority).bind(seq);
        }
        let found: Vec<FoundMessage> = query.fetch_all(&mut *session.connection).await?;
        for found in found {
            all.push(message(found)?);
        }
    }
    Ok(all)
}

pub(super) async fn depth<C: Conn>(
    session: &mut SqliteSession<C>,
    need: &str,
    most: u64,
) -> Result<u64> {
    let limit = i64::try_from(most).unwrap_or(i64::MAX);
    let query = sqlx::query_scalar(DEPTH).bind(need).bind(limit);
    let depth: i64 = query.fetch_one(&mut *session.connection).await?;
    Ok(depth.unsigned_abs().min(most))
}

pub(super) async fn next_change<C: Conn>(
    session: &mut SqliteSession<C>,
    need: &str,
) -> Result<Option<Timestamp>> {
    let query = sqlx::query_scalar(CHANGE).bind(need);
    let next: Option<i64> = query.fetch_one(&mut *session.connection).await?;
    Ok(next.map(Timestamp::from_micros))
}
