//! What claims find.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::DerefMut;

use pgflow_backend::backend::{Hold, MessageRow};
use pgflow_machine::Timestamp;
use pgflow_machine::job::JobId;
use pgflow_machine::permit::{PermitKey, PermitKind, Place, Units, Waiting};
use serde_json::Value;
use sqlx::MySqlConnection;

use crate::clock::now;
use crate::error::{Result, broken};
use crate::jobs::holders;
use crate::session::MySqlSession;

const PERMIT: &str = "select state from pgflow_permits where kind = ? and name = ?";
const LOCKED_PERMIT: &str =
    "select state from pgflow_permits where kind = ? and name = ? for update";

const OF_KIND: &str = "select name, state from pgflow_permits where kind = ?";

const HOLDS: &str = "
    select h.job, h.token, h.batch, h.units, h.fence
      from pgflow_permit_holds h
      straight_join pgflow_job_leases l force index (primary) on l.job = h.job and l.token = h.token
     where h.resource = ?";

/// What attempts at tasks hold that may be worked on: they go on, or nothing was heard of them since their steps or runs ended.
const HOLDS_OF_TASKS: &str = "
    select concat(hex(h.run), '/', h.step, '/', h.task_index, '/', h.attempt), h.units, h.fence
      from pgflow_task_holds h
      straight_join pgflow_tasks t force index (primary) on t.run = h.run and t.step = h.step and t.task_index = h.task_index
      straight_join pgflow_steps s force index (primary) on s.run = h.run and s.step = h.step
      straight_join pgflow_runs r force index (primary) on r.id = h.run
     where h.resource = ? and t.status = 'started' and t.attempts = h.attempt
       and (r.status = 'started' and s.status = 'started' or coalesce(s.ended_at, r.ended_at) + h.lasts > ?)";

macro_rules! waiting {
    ($after:literal) => {
        concat!(
            "select j.id, j.urgency, j.seq, coalesce(j.wake_at, j.created_at), j.payload_bytes,
                    m.batch_key, m.resources, m.not_before, j.streak
               from pgflow_jobs j force index (pgflow_jobs_ready)
               left join pgflow_messages m on m.job = j.id
              where j.need = ? and j.state = 'ready' and (j.expires_at is null or j.expires_at > ?)",
            $after,
            " order by j.urgency, j.seq limit ?"
        )
    };
}

const FIRST: &str = waiting!("");
const MORE: &str = waiting!(" and j.urgency >= ? and (j.urgency > ? or j.seq > ?)");

/// Of one key: the copies say where its jobs are, and the jobs whether they can be had. Many that cannot are not read through.
macro_rules! of_key {
    ($after:literal) => {
        concat!(
            "select j.id, j.urgency, j.seq, coalesce(j.wake_at, j.created_at), j.payload_bytes,
                    m.batch_key, m.resources, m.not_before, j.streak
               from (
                 select job, batch_key, resources, not_before from pgflow_messages force index (pgflow_messages_batch)
                  where need = ? and batch_key = ?",
            $after,
            "     order by urgency, seq limit ?
               ) m straight_join pgflow_jobs j on j.id = m.job
              where j.need = ? and j.state = 'ready' and (j.expires_at is null or j.expires_at > ?)
              order by j.urgency, j.seq limit ?"
        )
    };
}

const FIRST_OF_KEY: &str = of_key!("");
const MORE_OF_KEY: &str = of_key!(" and urgency >= ? and (urgency > ? or seq > ?)");

/// So many messages of a key are passed over that cannot be had.
const PASSED_OVER: u32 = 200;

const DEPTH: &str = "
    select count(*) from (
      select 1 from pgflow_jobs force index (pgflow_jobs_ready)
       where need = ? and state in ('ready', 'sleeping', 'parked') limit ?) waiting";

const WAKES: &str = "
    select wake_at from pgflow_jobs force index (pgflow_jobs_asleep)
     where need = ? and state = 'sleeping' order by wake_at limit 1";

const LAPSES: &str = "
    select l.until from pgflow_job_leases l force index (pgflow_job_leases_until)
      straight_join pgflow_jobs j force index (primary) on j.seq = l.job
     where j.need = ? order by l.until limit 1";

type FoundMessage =
    (Vec<u8>, i64, i64, i64, i64, Option<Vec<u8>>, Option<String>, Option<i64>, u32);

const NOW: &str = concat!("select ", now!());

/// What time it is, whenever the transaction began.
pub(crate) async fn time<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
) -> Result<Timestamp> {
    let now: i64 = sqlx::query_scalar(NOW).fetch_one(session.connection()).await?;
    Ok(Timestamp::from_micros(now))
}

fn text(bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(broken)
}

/// One by one, in their order, which is the order of locks.
pub(crate) async fn permits<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    keys: &BTreeSet<PermitKey>,
) -> Result<BTreeMap<PermitKey, Value>> {
    let sql = if session.locks { LOCKED_PERMIT } else { PERMIT };
    let mut found = BTreeMap::new();
    for key in keys {
        let query = sqlx::query_scalar(sql).bind(key.kind.word()).bind(key.name.as_bytes());
        let state: Option<String> = query.fetch_optional(session.connection()).await?;
        if let Some(state) = state {
            found.insert(key.clone(), serde_json::from_str(&state).map_err(broken)?);
        }
    }
    Ok(found)
}

type KeptMessage = (Option<Vec<u8>>, Option<String>, Option<i64>);

const MESSAGE: &str = "select batch_key, resources, not_before from pgflow_messages where job = ?";

pub(crate) async fn kept<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    id: &JobId,
) -> Result<Option<MessageRow>> {
    let query = sqlx::query_as(MESSAGE).bind(id.as_str().as_bytes());
    let found: Option<KeptMessage> = query.fetch_optional(session.connection()).await?;
    let Some((batch_key, resources, not_before)) = found else { return Ok(None) };
    let resources = resources.as_deref().map(serde_json::from_str::<Units>).transpose();
    Ok(Some(MessageRow {
        batch_key: batch_key.map(text).transpose()?,
        resources: resources.map_err(broken)?.unwrap_or_default(),
        not_before: not_before.map(Timestamp::from_micros),
    }))
}

pub(crate) async fn permits_of<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    kind: PermitKind,
) -> Result<BTreeMap<String, Value>> {
    let found: Vec<(Vec<u8>, String)> =
        sqlx::query_as(OF_KIND).bind(kind.word()).fetch_all(session.connection()).await?;
    let permit = |(name, state): (_, String)| {
        Ok((text(name)?, serde_json::from_str(&state).map_err(broken)?))
    };
    found.into_iter().map(permit).collect()
}

pub(crate) async fn holds<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    resources: &BTreeSet<String>,
) -> Result<Vec<Hold>> {
    let mut holds = Vec::new();
    for resource in resources {
        let query = sqlx::query_as(HOLDS).bind(resource.as_bytes());
        let found: Vec<(i64, String, String, u32, i64)> =
            query.fetch_all(session.connection()).await?;
        holds.extend(found.into_iter().map(|(job, token, batch, units, fence)| Hold {
            resource: resource.clone(),
            job,
            token,
            batch,
            units,
            fence: fence.unsigned_abs(),
        }));
        let query = sqlx::query_as(HOLDS_OF_TASKS).bind(resource.as_bytes());
        let query = query.bind(session.now.micros());
        let found: Vec<(String, u32, i64)> = query.fetch_all(session.connection()).await?;
        holds.extend(found.into_iter().map(|(token, units, fence)| Hold {
            resource: resource.clone(),
            job: 0,
            batch: token.clone(),
            token,
            units,
            fence: fence.unsigned_abs(),
        }));
    }
    Ok(holds)
}

pub(crate) async fn waiting<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    need: &str,
    after: Option<(i32, i64)>,
    max: u32,
) -> Result<Vec<Waiting>> {
    let sql = if after.is_some() { MORE } else { FIRST };
    let mut query = sqlx::query_as(sql).bind(need.as_bytes()).bind(session.now.micros());
    if let Some((priority, seq)) = after {
        let urgency = -i64::from(priority);
        query = query.bind(urgency).bind(urgency).bind(seq);
    }
    let found: Vec<FoundMessage> = query.bind(max).fetch_all(session.connection()).await?;
    found.into_iter().map(message).collect()
}

fn message(found: FoundMessage) -> Result<Waiting> {
    let (id, urgency, seq, since, bytes, batch_key, resources, not_before, streak) = found;
    let resources = resources.as_deref().map(serde_json::from_str::<Units>).transpose();
    Ok(Waiting {
        job: text(id).map(JobId::from_stored)?,
        priority: i32::try_from(-urgency).map_err(broken)?,
        seq,
        since: Timestamp::from_micros(since),
        bytes: bytes.unsigned_abs(),
        batch_key: batch_key.map(text).transpose()?,
        resources: resources.map_err(broken)?.unwrap_or_default(),
        not_before: not_before.map(Timestamp::from_micros),
        streak,
    })
}

pub(crate) async fn waiting_of<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    need: &str,
    keys: &[String],
    after: Option<Place>,
    max: u32,
) -> Result<Vec<Waiting>> {
    let sql = if after.is_some() { MORE_OF_KEY } else { FIRST_OF_KEY };
    let mut all = Vec::new();
    for key in keys {
        let mut query = sqlx::query_as(sql).bind(need.as_bytes()).bind(key.as_bytes());
        if let Some((priority, seq)) = after {
            let urgency = -i64::from(priority);
            query = query.bind(urgency).bind(urgency).bind(seq);
        }
        let query = query.bind(max.saturating_add(PASSED_OVER)).bind(need.as_bytes());
        let query = query.bind(session.now.micros()).bind(max);
        let found: Vec<FoundMessage> = query.fetch_all(session.connection()).await?;
        for found in found {
            all.push(message(found)?);
        }
    }
    Ok(all)
}

pub(crate) async fn depth<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    need: &str,
    most: u64,
) -> Result<u64> {
    let query = sqlx::query_scalar(DEPTH).bind(need.as_bytes()).bind(most);
    let depth: i64 = query.fetch_one(session.connection()).await?;
    Ok(depth.unsigned_abs())
}

pub(crate) async fn next_change<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    need: &str,
) -> Result<Option<Timestamp>> {
    let mut next: Option<i64> = None;
    for sql in [WAKES, LAPSES] {
        let query = sqlx::query_scalar(sql).bind(need.as_bytes());
        let found: Option<i64> = query.fetch_optional(session.connection()).await?;
        next = next.into_iter().chain(found).min();
    }
    let holders = holders(session, need, i64::MAX, 1).await?;
    next = next.into_iter().chain(holders.into_iter().map(|(_, until)| until)).min();
    Ok(next.map(Timestamp::from_micros))
}
