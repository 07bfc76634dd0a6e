//! Which jobs a claim or sweep finds.

use pgflow_machine::job::{JobHold, JobId, JobToken, ReadyJob};
use pgflow_machine::{RunId, Timestamp, Version};
use uuid::Uuid;

use super::names;
use crate::error::Result;
use crate::session::{Conn, SqliteSession};

/// The first of each need, and of those the first. A length is known from the row's header.
pub(crate) const READY: &str = "
    select j.id, octet_length(j.payload) from json_each(?1) n cross join pgflow_jobs j on j.seq in (
      select p.seq from pgflow_jobs p
       where p.need = n.value and p.state = 'ready' order by p.priority desc, p.seq limit ?2)
     order by j.priority desc, j.seq limit ?2";

const DUE: &str = "
    select j.id from json_each(?1) n
      cross join pgflow_jobs j on j.need = n.value and j.state = 'sleeping' and j.wake_at <= ?2
     limit ?3";

const LAPSED: &str = "
    select j.id from pgflow_job_leases l cross join pgflow_jobs j on j.seq = l.job
     where l.until <= ?1 and (?2 is null or j.need in (select value from json_each(?2)) or exists (
       select 1 from json_each(?2) n
        cross join pgflow_jobs p on p.key = j.key and p.state = 'parked' and p.need = n.value))
     order by l.until limit ?3";

const EXPIRED: &str = "
    select id from pgflow_jobs where expires_at <= ?1 and state <> 'leased' order by expires_at limit ?2";

/// Reads all jobs: a threshold is changed once in a while.
const MISJUDGED: &str = "
    select id from pgflow_jobs
     where state in ('ready', 'parked', 'sleeping', 'concern') and (state = 'concern') <> (streak > ?1 and not (max_attempts is not null and exists (
             select 1 from pgflow_permits p where p.kind = 'stage' and p.name = need and p.state ->> '$.of_queue' = 1)))
     limit ?2";

/// Leases are as many as workers have slots.
const HELD: &str = "
    select j.id, l.token from pgflow_job_leases l cross join pgflow_jobs j on j.seq = l.job where l.worker = ?1";

/// Of a bounded part of the edges: of a wide join none waits for one that waits.
const PAIRS: &str = "
    select e.waiter, e.dependency from (select waiter, dependency from pgflow_job_edges where kind = 'job' limit ?1) e
     where exists (select 1 from pgflow_job_edges d where d.waiter = e.dependency)";

const AWAITED: &str = "
    select r.run_id from (select distinct dependency from pgflow_job_edges where kind = 'run') e
      cross join pgflow_runs r on r.run_id = unhex(replace(e.dependency, '-', ''))
     where r.flow = ?1";

const NEXT: &str = "
    select min(at) from (
      select ?2 as at from json_each(?1) n
       where exists (select 1 from pgflow_jobs j where j.need = n.value and j.state = 'ready')
       union all
      select (select min(j.wake_at) from pgflow_jobs j where j.need = n.value and j.state = 'sleeping')
        from json_each(?1) n
       union all
      select * from (
        select l.until from pgflow_job_leases l cross join pgflow_jobs j on j.seq = l.job
         where j.need in (select value from json_each(?1)) or exists (
           select 1 from json_each(?1) n
            cross join pgflow_jobs p on p.key = j.key and p.state = 'parked' and p.need = n.value)
         order by l.until limit 1)
    )";

fn of(needs: &[String]) -> String {
    names(needs.iter().map(String::as_str))
}

fn found(ids: Vec<String>) -> Vec<JobId> {
    ids.into_iter().map(JobId::from_stored).collect()
}

pub(super) async fn ready<C: Conn>(
    session: &mut SqliteSession<C>,
    needs: &[String],
    max: u32,
) -> Result<Vec<ReadyJob>> {
    let query = sqlx::query_as(READY).bind(of(needs)).bind(max);
    let found: Vec<(String, i64)> = query.fetch_all(&mut *session.connection).await?;
    let ready = |(id, bytes)| ReadyJob {
        id: JobId::from_stored(id),
        bytes: usize::try_from(bytes).unwrap_or(usize::MAX),
    };
    Ok(found.into_iter().map(ready).collect())
}

pub(super) async fn due<C: Conn>(
    session: &mut SqliteSession<C>,
    needs: &[String],
    max: u32,
) -> Result<Vec<JobId>> {
    let query = sqlx::query_scalar(DUE).bind(of(needs)).bind(session.now.micros()).bind(max);
    Ok(found(query.fetch_all(&mut *session.connection).await?))
}

pub(super) async fn lapsed<C: Conn>(
    session: &mut SqliteSession<C>,
    needs: Option<&[String]>,
    max: u32,
) -> Result<Vec<JobId>> {
    let query = sqlx::query_scalar(LAPSED).bind(session.now.micros()).bind(needs.map(of)).bind(max);
    Ok(found(query.fetch_all(&mut *session.connection).await?))
}

pub(super) async fn expired<C: Conn>(
    session: &mut SqliteSession<C>,
    max: u32,
) -> Result<Vec<JobId>> {
    let query = sqlx::query_scalar(EXPIRED).bind(session.now.micros()).bind(max);
    Ok(found(query.fetch_all(&mut *session.connection).await?))
}

pub(super) async fn misjudged<C: Conn>(
    session: &mut SqliteSession<C>,
    threshold: u32,
    max: u32,
) -> Result<Vec<JobId>> {
    let query = sqlx::query_scalar(MISJUDGED).bind(threshold).bind(max);
    Ok(found(query.fetch_all(&mut *session.connection).await?))
}

pub(super) async fn waiting_pairs<C: Conn>(
    session: &mut SqliteSession<C>,
    max: u32,
) -> Result<Vec<(JobId, JobId)>> {
    let query = sqlx::query_as(PAIRS).bind(max);
    let pairs: Vec<(String, String)> = query.fetch_all(&mut *session.connection).await?;
    let pair = |(waiter, on)| (JobId::from_stored(waiter), JobId::from_stored(on));
    Ok(pairs.into_iter().map(pair).collect())
}

pub(super) async fn awaited_runs<C: Conn>(
    session: &mut SqliteSession<C>,
    version: &Version,
) -> Result<Vec<RunId>> {
    let query = sqlx::query_scalar(AWAITED).bind(version.id);
    let runs: Vec<Uuid> = query.fetch_all(&mut *session.connection).await?;
    Ok(runs.into_iter().map(RunId).collect())
}

pub(super) async fn held<C: Conn>(
    session: &mut SqliteSession<C>,
    worker: &str,
) -> Result<Vec<JobHold>> {
    let query = sqlx::query_as(HELD).bind(worker);
    let found: Vec<(String, String)> = query.fetch_all(&mut *session.connection).await?;
    let hold = |(id, token)| JobHold { job: JobId::from_stored(id), token: JobToken(token) };
    Ok(found.into_iter().map(hold).collect())
}

pub(super) async fn next<C: Conn>(
    session: &mut SqliteSession<C>,
    needs: &[String],
) -> Result<Option<Timestamp>> {
    let query = sqlx::query_scalar(NEXT).bind(of(needs)).bind(session.now.micros());
    let next: Option<i64> = query.fetch_one(&mut *session.connection).await?;
    Ok(next.map(Timestamp::from_micros))
}
