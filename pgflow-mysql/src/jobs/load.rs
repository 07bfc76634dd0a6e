//! Rows of jobs, as commands ask for them, locked.
//!
//! Looks that lock see what others have committed by then: whoever adds an edge and whoever ends what it is to lock the same row first.

use std::ops::DerefMut;

use pgflow_machine::job::{
    ArchivedJob, Dependency, JobId, JobLease, JobNeeds, JobOutcome, JobRow, JobRows, JobState,
    JobToken, Policy, Seq,
};
use pgflow_machine::{RunId, RunStatus, Timestamp};
use serde::Serialize;
use sqlx::mysql::MySqlRow;
use sqlx::{FromRow, MySqlConnection, Row};
use uuid::Uuid;

use super::names::{Name, id, text};
use crate::error::{Result, broken};
use crate::json_rows::{Hex, json_rows};
use crate::load::word;
use crate::session::MySqlSession;

/// What all looks at jobs have in common.
macro_rules! columns {
    () => {
        "j.seq, j.id, j.need, j.priority, j.state, j.wake_at, j.waits, j.job_key, j.expires_at, j.attempts, j.forgiven,
         j.failures, j.lapses, j.streak, j.max_attempts, j.cancel, j.settled, j.created_at"
    };
}
pub(super) use columns;

/// Live jobs `j`, with their leases `l`.
macro_rules! live {
    () => {
        concat!(
            "select ",
            crate::jobs::load::columns!(),
            ", l.token, l.until, l.worker, cast(null as char) as outcome"
        )
    };
}
pub(super) use live;

macro_rules! ended {
    () => {
        concat!(
            "select ",
            crate::jobs::load::columns!(),
            ", cast(null as char) as token, cast(null as signed) as until, cast(null as char) as worker, j.outcome"
        )
    };
}
pub(super) use ended;

macro_rules! names {
    () => {
        "(select n.* from json_table(?, '$[*]' columns (name varchar(256) character set utf8mb4 path '$')) n) k"
    };
}
pub(super) use names;

const LIVE: &str = concat!(
    live!(),
    " from ",
    names!(),
    " straight_join pgflow_jobs j force index (pgflow_jobs_id) on j.id = unhex(k.name)
       left join pgflow_job_leases l on l.job = j.seq for update"
);

const ENDED: &str = concat!(
    ended!(),
    " from ",
    names!(),
    " straight_join pgflow_job_archive j force index (primary) on j.id = unhex(k.name) for update"
);

const READY: &str = concat!(
    live!(),
    " from ",
    names!(),
    " straight_join pgflow_jobs j force index (pgflow_jobs_line) on j.job_key = unhex(k.name) and j.state = 'ready'
       left join pgflow_job_leases l on l.job = j.seq for update"
);

/// Needs that have parked jobs in the lines of keys.
const PARKED_NEEDS: &str = concat!(
    "select distinct j.job_key, j.need from ",
    names!(),
    " straight_join pgflow_jobs j force index (pgflow_jobs_line) on j.job_key = unhex(k.name) and j.state = 'parked'"
);

const PARKED: &str = concat!(
    live!(),
    " from pgflow_jobs j force index (pgflow_jobs_line) left join pgflow_job_leases l on l.job = j.seq
      where j.job_key = ? and j.state = 'parked' and j.need = ? order by j.urgency, j.seq limit ? for update"
);

const RUNS: &str = "
    select r.id, r.status
      from (select j.* from json_table(?, '$[*]' columns (run char(32) path '$')) j) k
      straight_join pgflow_runs r force index (primary) on r.id = unhex(k.run) for update";

/// So that there is a row to lock.
const TOUCH_KEYS: &str = concat!(
    "insert into pgflow_job_keys (job_key) select unhex(k.name) from ",
    names!(),
    " on duplicate key update holder = holder"
);

const KEYS: &str = concat!(
    "select h.job_key, h.holder from ",
    names!(),
    " straight_join pgflow_job_keys h force index (primary) on h.job_key = unhex(k.name) for update"
);

const WAITERS: &str = "
    select e.kind, e.dependency, e.waiter, e.policy
      from (select n.* from json_table(?, '$[*]' columns (
             kind varchar(8) character set utf8mb4 path '$.kind', name varchar(256) character set utf8mb4 path '$.name')) n) k
      straight_join pgflow_job_edges e force index (primary) on e.kind = k.kind and e.dependency = unhex(k.name)
       for update";

const WAITS: &str = concat!(
    "with recursive walk (id) as (
       select unhex(k.name) from ",
    names!(),
    "   union
       select e.dependency from walk w join pgflow_job_edges e on e.waiter = w.id and e.kind = 'job'
     )
     select e.kind, e.dependency, e.waiter, e.policy from walk w join pgflow_job_edges e on e.waiter = w.id"
);

/// A dependency, as a row.
#[derive(Serialize)]
pub(super) struct On {
    kind: &'static str,
    name: String,
}

impl From<&Dependency> for On {
    fn from(on: &Dependency) -> Self {
        let name = serde_json::to_value(Name(&on.name()));
        let name = name.ok().and_then(|name| name.as_str().map(str::to_owned));
        Self { kind: on.kind(), name: name.unwrap_or_default() }
    }
}

pub(super) struct FoundJob {
    pub(super) id: JobId,
    pub(super) row: JobRow,
    pub(super) outcome: Option<JobOutcome>,
}

impl<'r> FromRow<'r, MySqlRow> for FoundJob {
    fn from_row(row: &'r MySqlRow) -> sqlx::Result<Self> {
        found(row).map_err(|error| match error {
            crate::error::Error::Sqlx(error) => error,
            crate::error::Error::Backend(error) => sqlx::Error::Decode(error.into()),
        })
    }
}

fn found(row: &MySqlRow) -> Result<FoundJob> {
    let moment = |name| {
        Ok::<_, sqlx::Error>(row.try_get::<Option<i64>, _>(name)?.map(Timestamp::from_micros))
    };
    let state: String = row.try_get("state")?;
    let cancel: Option<String> = row.try_get("cancel")?;
    let outcome: Option<String> = row.try_get("outcome")?;
    let token: Option<String> = row.try_get("token")?;
    let lease = match token {
        None => None,
        Some(token) => Some(JobLease {
            token: JobToken(token),
            until: Timestamp::from_micros(row.try_get("until")?),
            worker: row.try_get("worker")?,
        }),
    };
    let key: Option<Vec<u8>> = row.try_get("job_key")?;
    let settled: Option<String> = row.try_get("settled")?;
    let found = JobRow {
        seq: Seq::Given(row.try_get("seq")?),
        need: text(row.try_get("need")?)?,
        priority: row.try_get("priority")?,
        state: word(JobState::from_word(&state), &state)?,
        wake_at: moment("wake_at")?,
        waits: row.try_get("waits")?,
        key: key.map(text).transpose()?,
        expires_at: moment("expires_at")?,
        attempts: row.try_get("attempts")?,
        forgiven: row.try_get("forgiven")?,
        failures: row.try_get("failures")?,
        lapses: row.try_get("lapses")?,
        streak: row.try_get("streak")?,
        max_attempts: row.try_get("max_attempts")?,
        cancel: cancel.as_deref().map(serde_json::from_str).transpose().map_err(broken)?,
        lease,
        settled: settled.map(JobToken),
        created_at: Timestamp::from_micros(row.try_get("created_at")?),
    };
    let outcome = outcome.map(|text| word(JobOutcome::from_word(&text), &text)).transpose()?;
    Ok(FoundJob { id: id(row.try_get("id")?)?, row: found, outcome })
}

pub(crate) async fn load<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    needs: &JobNeeds,
    rows: &mut JobRows,
) -> Result<()> {
    if !needs.runs.is_empty() {
        runs(session, needs, rows).await?;
    }
    if !needs.jobs.is_empty() {
        jobs(session, LIVE, needs.jobs.iter().map(Name::from), rows).await?;
        let missing = needs.jobs.iter().filter(|id| !rows.jobs.contains_key(*id));
        let missing: Vec<_> = missing.map(Name::from).collect();
        jobs(session, ENDED, missing, rows).await?;
    }
    if !needs.keys.is_empty() {
        keys(session, needs, rows).await?;
    }
    if !needs.lines.is_empty() {
        lines(session, needs, rows).await?;
    }
    if !needs.waiters.is_empty() {
        let on: Vec<_> = needs.waiters.iter().map(On::from).collect();
        for (on, waiter, policy) in
            edges(session, locking(session, WAITERS), json_rows(&on)?).await?
        {
            rows.waiters.entry(on).or_default().push((waiter, policy));
        }
    }
    if !needs.waits.is_empty() {
        let wanted: Vec<_> = needs.waits.iter().map(Name::from).collect();
        for (on, waiter, _) in edges(session, WAITS, json_rows(&wanted)?).await? {
            rows.waits.entry(waiter).or_default().push(on);
        }
    }
    Ok(())
}

async fn runs<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    needs: &JobNeeds,
    rows: &mut JobRows,
) -> Result<()> {
    let wanted: Vec<_> = needs.runs.iter().copied().map(Hex).collect();
    let query = sqlx::query_as(RUNS).bind(json_rows(&wanted)?);
    let found: Vec<(Uuid, String)> = query.fetch_all(session.connection()).await?;
    for (run, status) in found {
        rows.runs.insert(RunId(run), word(RunStatus::from_word(&status), &status)?);
    }
    Ok(())
}

async fn jobs<'n, C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    sql: &'static str,
    wanted: impl IntoIterator<Item = Name<'n>>,
    rows: &mut JobRows,
) -> Result<()> {
    let wanted: Vec<_> = wanted.into_iter().collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let query = sqlx::query_as(locking(session, sql)).bind(json_rows(&wanted)?);
    add(query.fetch_all(session.connection()).await?, rows);
    Ok(())
}

/// A step's own transaction locks nothing while the step runs: heartbeats would wait for it.
fn locking<C>(session: &MySqlSession<C>, sql: &'static str) -> &'static str {
    if session.locks { sql } else { sql.strip_suffix(" for update").unwrap_or(sql) }
}

fn add(found: Vec<FoundJob>, rows: &mut JobRows) {
    for FoundJob { id, row, outcome } in found {
        match outcome {
            None => drop(rows.jobs.insert(id, row)),
            Some(outcome) => drop(rows.archived.insert(id, ArchivedJob { row, outcome })),
        }
    }
}

async fn keys<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    needs: &JobNeeds,
    rows: &mut JobRows,
) -> Result<()> {
    let wanted: Vec<_> = needs.keys.iter().map(|key| Name(key)).collect();
    let wanted = json_rows(&wanted)?;
    sqlx::query(TOUCH_KEYS).bind(&wanted).execute(session.connection()).await?;
    let query = sqlx::query_as(KEYS).bind(wanted);
    let found: Vec<(Vec<u8>, Option<Vec<u8>>)> = query.fetch_all(session.connection()).await?;
    for (key, holder) in found {
        rows.keys.insert(text(key)?, holder.map(id).transpose()?);
    }
    Ok(())
}

async fn lines<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    needs: &JobNeeds,
    rows: &mut JobRows,
) -> Result<()> {
    let keys: Vec<_> = needs.lines.keys().map(|key| Name(key)).collect();
    jobs(session, READY, keys.iter().copied(), rows).await?;
    let query = sqlx::query_as(PARKED_NEEDS).bind(json_rows(&keys)?);
    let parked: Vec<(Vec<u8>, Vec<u8>)> = query.fetch_all(session.connection()).await?;
    let many = needs.lines.values().copied().max().unwrap_or_default();
    for (key, need) in parked {
        let query = sqlx::query_as(PARKED).bind(key).bind(need);
        let query = query.bind(u32::try_from(many).unwrap_or(u32::MAX));
        add(query.fetch_all(session.connection()).await?, rows);
    }
    Ok(())
}

async fn edges<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    sql: &'static str,
    wanted: String,
) -> Result<Vec<(Dependency, JobId, Policy)>> {
    let query = sqlx::query_as(sql).bind(wanted);
    let found: Vec<(String, Vec<u8>, Vec<u8>, String)> =
        query.fetch_all(session.connection()).await?;
    let edge = |(kind, name, waiter, policy): (String, Vec<u8>, Vec<u8>, String)| {
        let on = word(Dependency::from_stored(&kind, text(name)?), &kind)?;
        Ok((on, id(waiter)?, word(Policy::from_word(&policy), &policy)?))
    };
    found.into_iter().map(edge).collect()
}
