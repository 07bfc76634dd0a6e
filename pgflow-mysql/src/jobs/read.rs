//! Jobs, read for people and workers.

use std::collections::HashMap;
use std::ops::DerefMut;

use pgflow_machine::Timestamp;
use pgflow_machine::job::{Dependency, JobId, JobSettings, JobToken, Policy, TraceKind, Wait};
use serde_json::Value;
use sqlx::mysql::MySqlRow;
use sqlx::{FromRow, MySqlConnection, Row};

use super::load::{FoundJob, ended, live, names};
use super::names::{Name, id as job_id, text};
use crate::error::Result;
use crate::json_rows::json_rows;
use crate::load::word;
use crate::payloads::parse;
use crate::session::MySqlSession;
use pgflow_backend::backend::{JobEvent, JobQuery, JobRecord, JobStanding, JobSummary, JobsOf};

macro_rules! from_live {
    () => {
        concat!(
            live!(),
            ", j.error, cast(null as signed) as ended_at
               from pgflow_jobs j left join pgflow_job_leases l on l.job = j.seq"
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

const LIVE: &str = concat!(from_live!(), " where j.id = ?");
const ENDED: &str = concat!(from_ended!(), " where j.id = ?");

const LIST_LIVE: &str = concat!(
    from_live!(),
    " where j.seq > ? and (? is null or j.need = ?) and (? is null or false) order by j.seq limit ?"
);
const LIST_ENDED: &str = concat!(
    from_ended!(),
    " where j.seq > ? and (? is null or j.need = ?) and (? is null or j.outcome = ?) order by j.seq limit ?"
);

const PAYLOADS: &str = concat!(
    "select j.id, j.payload from ",
    names!(),
    " straight_join pgflow_jobs j force index (pgflow_jobs_id) on j.id = unhex(k.name)"
);

const DATA: &str = "
    select payload, cast(null as char) from pgflow_jobs where id = ?
     union all
    select payload, output from pgflow_job_archive where id = ?";

const EDGES: &str = "
    select kind, dependency, policy from pgflow_job_edges where waiter = ? order by kind, dependency";

const TRACE: &str = "
    select number, at, kind, who, token, detail from pgflow_job_trace
     where job = ? and number > ? order by number limit ?";

const TRACE_END: &str = "
    select number, at, kind, who, token, detail from pgflow_job_trace
     where job = ? order by number desc limit ?";

const SETTINGS: &str = "select trace, crash_threshold from pgflow_job_settings where id = 1";

/// A job, and what people are told of it.
pub(super) struct Found {
    job: FoundJob,
    error: Option<String>,
    ended_at: Option<i64>,
}

impl<'r> FromRow<'r, MySqlRow> for Found {
    fn from_row(row: &'r MySqlRow) -> sqlx::Result<Self> {
        let (error, ended_at) = (row.try_get("error")?, row.try_get("ended_at")?);
        Ok(Self { job: FoundJob::from_row(row)?, error, ended_at })
    }
}

impl Found {
    pub(super) fn summary(self, now: Timestamp) -> JobSummary {
        let FoundJob { id, row, outcome } = self.job;
        let live = || JobStanding::Live(row.status(now));
        JobSummary {
            id,
            standing: outcome.map_or_else(live, JobStanding::Ended),
            error: self.error,
            ended_at: self.ended_at.map(Timestamp::from_micros),
            row,
        }
    }
}

pub(crate) async fn record<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    id: &JobId,
) -> Result<Option<JobRecord>> {
    let name = id.as_str().as_bytes();
    let mut found: Option<Found> = None;
    for sql in [LIVE, ENDED] {
        if found.is_none() {
            found = sqlx::query_as(sql).bind(name).fetch_optional(session.connection()).await?;
        }
    }
    let Some(found) = found else { return Ok(None) };
    let query = sqlx::query_as(DATA).bind(name).bind(name);
    let data: Option<(String, Option<String>)> = query.fetch_optional(session.connection()).await?;
    let Some((payload, output)) = data else { return Ok(None) };
    Ok(Some(JobRecord {
        summary: found.summary(session.now),
        payload: parse(&payload)?,
        output: output.map(|output| parse(&output)).transpose()?,
        waits_for: waits(session, id).await?,
    }))
}

async fn waits<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    id: &JobId,
) -> Result<Vec<Wait>> {
    let query = sqlx::query_as(EDGES).bind(id.as_str().as_bytes());
    let edges: Vec<(String, Vec<u8>, String)> = query.fetch_all(session.connection()).await?;
    let wait = |(kind, name, policy): (String, Vec<u8>, String)| {
        let on = word(Dependency::from_stored(&kind, text(name)?), &kind)?;
        Ok(Wait { on, policy: word(Policy::from_word(&policy), &policy)? })
    };
    edges.into_iter().map(wait).collect()
}

pub(crate) async fn list<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    query: &JobQuery,
) -> Result<Vec<JobSummary>> {
    let (after, need) = (query.after.unwrap_or(i64::MIN), query.need.as_deref().map(str::as_bytes));
    let outcome = match query.of {
        JobsOf::EndedAs(outcome) => Some(outcome.word()),
        JobsOf::Live | JobsOf::Ended => None,
    };
    let sql = if query.of == JobsOf::Live { LIST_LIVE } else { LIST_ENDED };
    let mut found = sqlx::query_as(sql).bind(after).bind(need).bind(need).bind(outcome);
    if query.of != JobsOf::Live {
        found = found.bind(outcome);
    }
    let found: Vec<Found> = found.bind(query.max).fetch_all(session.connection()).await?;
    Ok(found.into_iter().map(|found| found.summary(session.now)).collect())
}

pub(crate) async fn payloads<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    jobs: &[JobId],
) -> Result<HashMap<JobId, Value>> {
    let wanted: Vec<_> = jobs.iter().map(Name::from).collect();
    let query = sqlx::query_as(PAYLOADS).bind(json_rows(&wanted)?);
    let found: Vec<(Vec<u8>, String)> = query.fetch_all(session.connection()).await?;
    let payload = |(name, payload): (Vec<u8>, String)| Ok((job_id(name)?, parse(&payload)?));
    found.into_iter().map(payload).collect()
}

type Event = (i64, i64, String, Option<String>, Option<String>, Option<String>);

pub(crate) async fn trace<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    id: &JobId,
    after: u64,
    max: u32,
) -> Result<Vec<JobEvent>> {
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let query = sqlx::query_as(TRACE).bind(id.as_str().as_bytes()).bind(after).bind(max);
    let found: Vec<Event> = query.fetch_all(session.connection()).await?;
    events(found)
}

/// The last lines of it.
pub(crate) async fn trace_end<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    id: &JobId,
    max: u32,
) -> Result<Vec<JobEvent>> {
    let query = sqlx::query_as(TRACE_END).bind(id.as_str().as_bytes()).bind(max);
    let mut found: Vec<Event> = query.fetch_all(session.connection()).await?;
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

pub(crate) async fn settings<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
) -> Result<JobSettings> {
    let query = sqlx::query_as(SETTINGS);
    let (trace, crash_threshold): (i8, u32) = query.fetch_one(session.connection()).await?;
    Ok(JobSettings { trace: trace != 0, crash_threshold })
}
