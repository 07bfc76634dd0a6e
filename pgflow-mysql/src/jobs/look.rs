//! Which jobs a claim or sweep finds. Needs are looked at one by one, so that no server reads more entries of an index than there are
//! jobs to take, and claims pass over what others have locked.

use std::collections::BTreeSet;
use std::ops::DerefMut;

use pgflow_machine::job::{JobHold, JobId, JobToken, ReadyJob};
use pgflow_machine::{RunId, Timestamp, Version};
use sqlx::MySqlConnection;
use uuid::Uuid;

use super::names::{id, text};
use crate::error::Result;
use crate::session::MySqlSession;

const READY: &str = "
    select id, urgency, seq, payload_bytes from pgflow_jobs force index (pgflow_jobs_ready)
     where need = ? and state = 'ready' order by urgency, seq limit ? for update skip locked";

const DUE: &str = "
    select id from pgflow_jobs force index (pgflow_jobs_asleep)
     where need = ? and state = 'sleeping' and wake_at <= ? order by wake_at limit ? for update skip locked";

/// Reads all jobs: a threshold is changed once in a while.
const MISJUDGED: &str = "
    select id from pgflow_jobs
     where state in ('ready', 'parked', 'sleeping', 'concern') and (state = 'concern') <> (streak > ? and not (max_attempts is not null and exists (
             select 1 from pgflow_permits p
              where p.kind = 'stage' and p.name = need and json_contains(p.state, 'true', '$.of_queue'))))
     limit ?";

/// Leases are as many as workers have slots.
const LAPSED: &str = "
    select j.id, j.need from pgflow_job_leases l force index (pgflow_job_leases_until)
      straight_join pgflow_jobs j force index (primary) on j.seq = l.job
     where l.until <= ? order by l.until limit ?";

/// Who has a key that jobs of a need are in line for.
const HOLDERS: &str = "
    select j.id, l.until from pgflow_job_leases l force index (pgflow_job_leases_until)
      straight_join pgflow_jobs j force index (primary) on j.seq = l.job
     where l.until <= ? and j.job_key is not null and (
       select p.seq from pgflow_jobs p force index (pgflow_jobs_line)
        where p.job_key = j.job_key and p.state = 'parked' and p.need = ? limit 1) is not null
     order by l.until limit ?";

const HELD: &str = "
    select j.id, l.token from pgflow_job_leases l
      straight_join pgflow_jobs j force index (primary) on j.seq = l.job
     where l.worker = ?";

/// Of a bounded part of the edges: of a wide join none waits for one that waits.
const PAIRS: &str = "
    select e.waiter, e.dependency
      from (select waiter, dependency from pgflow_job_edges where kind = 'job' limit ?) e
     where exists (select 1 from pgflow_job_edges d where d.waiter = e.dependency)";

const AWAITED: &str = "
    select r.id from (select distinct dependency from pgflow_job_edges where kind = 'run') e
      straight_join pgflow_runs r force index (primary)
         on r.id = unhex(replace(convert(e.dependency using utf8mb4), '-', ''))
     where r.flow = ?";

const EXPIRED: &str = "
    select id from pgflow_jobs force index (pgflow_jobs_expiry)
     where expires_at <= ? and state <> 'leased' order by expires_at limit ?";

const IS_READY: &str = "
    select cast(1 as signed) from pgflow_jobs force index (pgflow_jobs_ready)
     where need = ? and state = 'ready' limit 1";

const WAKES: &str = "
    select wake_at from pgflow_jobs force index (pgflow_jobs_asleep)
     where need = ? and state = 'sleeping' order by wake_at limit 1";

const LAPSES: &str = "
    select l.until, j.need from pgflow_job_leases l force index (pgflow_job_leases_until)
      straight_join pgflow_jobs j force index (primary) on j.seq = l.job
     order by l.until limit 1000";

pub(crate) async fn ready<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    needs: &[String],
    max: u32,
) -> Result<Vec<ReadyJob>> {
    let mut found: Vec<(i64, i64, Vec<u8>, i64)> = Vec::new();
    for need in distinct(needs) {
        let query = sqlx::query_as(READY).bind(need.as_bytes()).bind(max);
        let ready: Vec<(Vec<u8>, i64, i64, i64)> = query.fetch_all(session.connection()).await?;
        found.extend(ready.into_iter().map(|(id, urgency, seq, bytes)| (urgency, seq, id, bytes)));
    }
    found.sort_unstable();
    let ready = |(_, _, name, bytes): (i64, i64, Vec<u8>, i64)| {
        Ok(ReadyJob { id: id(name)?, bytes: usize::try_from(bytes).unwrap_or(usize::MAX) })
    };
    found.into_iter().take(max as usize).map(ready).collect()
}

pub(crate) async fn due<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    needs: &[String],
    max: u32,
) -> Result<Vec<JobId>> {
    let mut found = Vec::new();
    for need in distinct(needs) {
        let query = sqlx::query_scalar(DUE).bind(need.as_bytes());
        let query = query.bind(session.now.micros()).bind(max);
        let due: Vec<Vec<u8>> = query.fetch_all(session.connection()).await?;
        for name in due {
            found.push(id(name)?);
        }
    }
    Ok(found)
}

pub(crate) async fn lapsed<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    needs: Option<&[String]>,
    max: u32,
) -> Result<Vec<JobId>> {
    let query = sqlx::query_as(LAPSED).bind(session.now.micros()).bind(max);
    let found: Vec<(Vec<u8>, Vec<u8>)> = query.fetch_all(session.connection()).await?;
    let Some(needs) = needs.filter(|_| !found.is_empty()) else {
        return found.into_iter().map(|(name, _)| id(name)).collect();
    };
    let mut lapsed = BTreeSet::new();
    for (name, need) in found {
        if needs.contains(&text(need)?) {
            lapsed.insert(id(name)?);
        }
    }
    for need in distinct(needs) {
        for (name, _) in holders(session, need, session.now.micros(), max).await? {
            lapsed.insert(id(name)?);
        }
    }
    Ok(lapsed.into_iter().take(max as usize).collect())
}

/// Who has a key that jobs of this need are in line for, with leases until this moment at most: the first to run out first.
pub(crate) async fn holders<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    need: &str,
    until: i64,
    max: u32,
) -> Result<Vec<(Vec<u8>, i64)>> {
    let query = sqlx::query_as(HOLDERS).bind(until).bind(need.as_bytes()).bind(max);
    Ok(query.fetch_all(session.connection()).await?)
}

pub(crate) async fn expired<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    max: u32,
) -> Result<Vec<JobId>> {
    let query = sqlx::query_scalar(EXPIRED).bind(session.now.micros()).bind(max);
    let found: Vec<Vec<u8>> = query.fetch_all(session.connection()).await?;
    found.into_iter().map(id).collect()
}

pub(crate) async fn misjudged<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    threshold: u32,
    max: u32,
) -> Result<Vec<JobId>> {
    let query = sqlx::query_scalar(MISJUDGED).bind(threshold).bind(max);
    let found: Vec<Vec<u8>> = query.fetch_all(session.connection()).await?;
    found.into_iter().map(id).collect()
}

pub(crate) async fn waiting_pairs<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    max: u32,
) -> Result<Vec<(JobId, JobId)>> {
    let query = sqlx::query_as(PAIRS).bind(max);
    pairs(query.fetch_all(session.connection()).await?)
}

/// Waiters, and what they wait for.
pub(super) fn pairs(rows: Vec<(Vec<u8>, Vec<u8>)>) -> Result<Vec<(JobId, JobId)>> {
    rows.into_iter().map(|(waiter, on)| Ok((id(waiter)?, id(on)?))).collect()
}

pub(crate) async fn awaited_runs<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    version: &Version,
) -> Result<Vec<RunId>> {
    let query = sqlx::query_scalar(AWAITED).bind(version.id);
    let runs: Vec<Uuid> = query.fetch_all(session.connection()).await?;
    Ok(runs.into_iter().map(RunId).collect())
}

pub(crate) async fn held<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    worker: &str,
) -> Result<Vec<JobHold>> {
    let query = sqlx::query_as(HELD).bind(worker);
    let found: Vec<(Vec<u8>, String)> = query.fetch_all(session.connection()).await?;
    let hold = |(name, token)| Ok(JobHold { job: id(name)?, token: JobToken(token) });
    found.into_iter().map(hold).collect()
}

pub(crate) async fn next<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    needs: &[String],
) -> Result<Option<Timestamp>> {
    let mut next: Option<i64> = None;
    for need in distinct(needs) {
        let query = sqlx::query_scalar(IS_READY).bind(need.as_bytes());
        let ready: Option<i64> = query.fetch_optional(session.connection()).await?;
        if ready.is_some() {
            return Ok(Some(session.now));
        }
        let query = sqlx::query_scalar(WAKES).bind(need.as_bytes());
        let wakes: Option<i64> = query.fetch_optional(session.connection()).await?;
        next = next.into_iter().chain(wakes).min();
    }
    let leases: Vec<(i64, Vec<u8>)> =
        sqlx::query_as(LAPSES).fetch_all(session.connection()).await?;
    if !leases.is_empty() {
        for need in distinct(needs) {
            let holders = holders(session, need, i64::MAX, 1).await?;
            next = next.into_iter().chain(holders.into_iter().map(|(_, until)| until)).min();
        }
    }
    let is_meant = |need: &[u8]| needs.iter().any(|meant| meant.as_bytes() == need);
    let lapse = leases.into_iter().find(|(_, need)| is_meant(need)).map(|(until, _)| until);
    Ok(next.into_iter().chain(lapse).min().map(Timestamp::from_micros))
}

fn distinct(needs: &[String]) -> Vec<&String> {
    let mut needs: Vec<_> = needs.iter().collect();
    needs.sort_unstable();
    needs.dedup();
    needs
}
