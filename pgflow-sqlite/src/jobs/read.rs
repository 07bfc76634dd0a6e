//! Jobs, read for people and workers.

use std::collections::HashMap;

use pgflow_machine::Timestamp;
use pgflow_machine::job::{
    Dependency, JobId, JobOutcome, JobSettings, JobToken, Policy, TraceKind, Wait,
};
use serde_json::Value;

use super::ids;
use super::load::{FoundJob, ended, live};
use crate::error::Result;
use crate::load::word;
use crate::payloads::parse;
use crate::row::row;
use crate::session::{Conn, SqliteSession};
use pgflow_backend::backend::{JobEvent, JobQuery, JobRecord, JobStanding, JobSummary, JobsOf};

macro_rules! from_live {
    () => {
        concat!(
            live!(),
            ", j.error, null as ended_at from pgflow_jobs j left join pgflow_job_leases l on l.job = j.seq"
        )
    };
}
pub(super) use from_live;

macro_rules! from_ended {
    () => {
        concat!(ended!(), ", j.error, j.ended_at from pgflow_job_archive j")
    };
}
pub(super) use from_ended;

const LIVE: &str = concat!(from_live!(), " where j.id = ?1");
const ENDED: &str = concat!(from_ended!(), " where j.id = ?1");

const LIST_LIVE: &str = concat!(
    from_live!(),
    " where j.seq > ?1 and (?2 is null or j.need = ?2) and ?3 is null order by j.seq limit ?4"
);
const LIST_ENDED: &str = concat!(
    from_ended!(),
    " where j.seq > ?1 and (?2 is null or j.need = ?2) and (?3 is null or j.outcome = ?3) order by j.seq limit ?4"
);

const PAYLOADS: &str = "
    select j.id, j.payload from json_each(?1) k cross join pgflow_jobs j on j.id = k.value";

const DATA: &str = "
    select payload, null from pgflow_jobs where id = ?1
     union all
    select payload, output from pgflow_job_archive where id = ?1";

const EDGES: &str = "
    select kind, dependency, policy from pgflow_job_edges where waiter = ?1 order by kind, dependency";

const TRACE: &str = "
    select number, at, kind, by, token, detail from pgflow_job_trace
     where job = ?1 and number > ?2 order by number limit ?3";

const TRACE_END: &str = "
    select number, at, kind, by, token, detail from pgflow_job_trace
     where job = ?1 order by number desc limit ?2";

const SETTINGS: &str = "select trace, crash_threshold from pgflow_job_settings where id = 1";

row! {
    struct Told {
        error: Option<String>,
        ended_at: Option<i64>,
    }
}

/// A job, and what people are told of it.
pub(super) struct Found(FoundJob, Told);

impl<'r> sqlx::FromRow<'r, sqlx::sqlite::SqliteRow> for Found {
    fn from_row(row: &'r sqlx::sqlite::SqliteRow) -> sqlx::Result<Self> {
        Ok(Self(FoundJob::from_row(row)?, Told::from_row(row)?))
    }
}

pub(super) fn summary(found: Found, now: Timestamp) -> Result<JobSummary> {
    let Found(mut job, Told { error, ended_at }) = found;
    let id = JobId::from_stored(std::mem::take(&mut job.id));
    let outcome = job.outcome.take();
    let row = job.row()?;
    let standing = match outcome {
        None => JobStanding::Live(row.status(now)),
        Some(text) => JobStanding::Ended(word(JobOutcome::from_word(&text), &text)?),
    };
    let ended_at = ended_at.map(Timestamp::from_micros);
    Ok(JobSummary { id, standing, row, error, ended_at })
}

pub(super) async fn record<C: Conn>(
    session: &mut SqliteSession<C>,
    id: &JobId,
) -> Result<Option<JobRecord>> {
    let mut found = None;
    for sql in [LIVE, ENDED] {
        if found.is_none() {
            let query = sqlx::query_as(sql).bind(id.as_str());
            found = query.fetch_optional(&mut *session.connection).await?;
        }
    }
    let Some(found) = found else { return Ok(None) };
    let query = sqlx::query_as(DATA).bind(id.as_str());
    let (payload, output): (String, Option<String>) =
        query.fetch_one(&mut *session.connection).await?;
    Ok(Some(JobRecord {
        summary: summary(found, session.now)?,
        payload: parse(&payload)?,
        output: output.map(|output| parse(&output)).transpose()?,
        waits_for: waits(session, id).await?,
    }))
}

async fn waits<C: Conn>(session: &mut SqliteSession<C>, id: &JobId) -> Result<Vec<Wait>> {
    let query = sqlx::query_as(EDGES).bind(id.as_str());
    let edges: Vec<(String, String, String)> = query.fetch_all(&mut *session.connection).await?;
    let wait = |(kind, name, policy): (String, String, String)| {
        let on = word(Dependency::from_stored(&kind, name), &kind)?;
        Ok(Wait { on, policy: word(Policy::from_word(&policy), &policy)? })
    };
    edges.into_iter().map(wait).collect()
}

pub(super) async fn list<C: Conn>(
    session: &mut SqliteSession<C>,
    query: &JobQuery,
) -> Result<Vec<JobSummary>> {
    let (sql, outcome) = match query.of {
        JobsOf::Live => (LIST_LIVE, None),
        JobsOf::Ended => (LIST_ENDED, None),
        JobsOf::EndedAs(outcome) => (LIST_ENDED, Some(outcome.word())),
    };
    let after = query.after.unwrap_or(i64::MIN);
    let found = sqlx::query_as(sql).bind(after).bind(&query.need).bind(outcome).bind(query.max);
    let found: Vec<Found> = found.fetch_all(&mut *session.connection).await?;
    found.into_iter().map(|found| summary(found, session.now)).collect()
}

pub(super) async fn payloads<C: Conn>(
    session: &mut SqliteSession<C>,
    jobs: &[JobId],
) -> Result<HashMap<JobId, Value>> {
    let query = sqlx::query_as(PAYLOADS).bind(ids(jobs));
    let found: Vec<(String, String)> = query.fetch_all(&mut *session.connection).await?;
    let payload = |(id, text): (String, String)| Ok((JobId::from_stored(id), parse(&text)?));
    found.into_iter().map(payload).collect()
}

type Event = (i64, i64, String, Option<String>, Option<String>, Option<String>);

pub(super) async fn trace<C: Conn>(
    session: &mut SqliteSession<C>,
    id: &JobId,
    after: u64,
    max: u32,
) -> Result<Vec<JobEvent>> {
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let query = sqlx::query_as(TRACE).bind(id.as_str()).bind(after).bind(max);
    let found: Vec<Event> = query.fetch_all(&mut *session.connection).await?;
    events(found)
}

/// The last lines of it.
pub(super) async fn trace_end<C: Conn>(
    session: &mut SqliteSession<C>,
    id: &JobId,
    max: u32,
) -> Result<Vec<JobEvent>> {
    let query = sqlx::query_as(TRACE_END).bind(id.as_str()).bind(max);
    let mut found: Vec<Event> = query.fetch_all(&mut *session.connection).await?;
    found.reverse();
    events(found)
}

fn events(found: Vec<Event>) -> Result<Vec<JobEvent>> {
    let event = |(number, at, kind, by, token, detail): Event| {
        Ok(JobEvent {
            number: number.unsigned_abs(),
            at: Timestamp::from_micros(at),
            kind: word(TraceKind::from_word(&kind), &kind)?,
            by,
            token: token.map(JobToken),
            detail: detail.map(|detail| parse(&detail)).transpose()?,
        })
    };
    found.into_iter().map(event).collect()
}

pub(super) async fn settings<C: Conn>(session: &mut SqliteSession<C>) -> Result<JobSettings> {
    let query = sqlx::query_as(SETTINGS);
    let (trace, crash_threshold) = query.fetch_one(&mut *session.connection).await?;
    Ok(JobSettings { trace, crash_threshold })
}
