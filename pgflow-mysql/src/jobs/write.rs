//! What commands decided about jobs, written with a few statements.

use std::ops::DerefMut;

use pgflow_machine::Timestamp;
use pgflow_machine::job::{
    JobId, JobOutcome, JobRows, JobSettings, JobState, JobWrites, Policy, TraceEntry, TraceKind,
};
use serde::Serialize;
use serde_json::Value;
use sqlx::MySqlConnection;

use super::load::{On, names};
use super::names::Name;
use crate::error::{Result, broken};
use crate::json_rows::{json_rows, parts};
use crate::session::MySqlSession;
use crate::write::MOST_BYTES;

/// The columns of a parameter with rows of jobs.
macro_rules! jobs {
    () => {
        "json_table(?, '$[*]' columns (
           number for ordinality,
           id varchar(256) character set utf8mb4 path '$.id', need varchar(256) character set utf8mb4 path '$.need',
           priority int path '$.priority', urgency bigint path '$.urgency',
           state varchar(16) character set utf8mb4 path '$.state', wake_at bigint path '$.wake_at',
           waits int unsigned path '$.waits', job_key varchar(256) character set utf8mb4 path '$.key',
           expires_at bigint path '$.expires_at', attempts int unsigned path '$.attempts',
           forgiven int unsigned path '$.forgiven', failures int unsigned path '$.failures',
           lapses int unsigned path '$.lapses', streak int unsigned path '$.streak',
           max_attempts int unsigned path '$.max_attempts',
           cancel longtext character set utf8mb4 path '$.cancel',
           settled varchar(191) character set utf8mb4 path '$.settled', created_at bigint path '$.created_at',
           payload longtext character set utf8mb4 path '$.payload',
           error longtext character set utf8mb4 path '$.error')) k"
    };
}

macro_rules! columns {
    () => {
        "id, need, priority, urgency, state, wake_at, waits, job_key, expires_at, attempts, forgiven, failures, lapses,
         streak, max_attempts, cancel, settled, created_at"
    };
}

macro_rules! values {
    () => {
        "unhex(k.id), unhex(k.need), k.priority, k.urgency, k.state, k.wake_at, k.waits, unhex(k.job_key), k.expires_at,
         k.attempts, k.forgiven, k.failures, k.lapses, k.streak, k.max_attempts, k.cancel, k.settled, k.created_at"
    };
}

const INSERT: &str = concat!(
    "insert into pgflow_jobs (",
    columns!(),
    ", payload, error) select ",
    values!(),
    ", k.payload, k.error from ",
    jobs!(),
    " order by k.number"
);

const RESTORE: &str = concat!(
    "insert into pgflow_jobs (",
    columns!(),
    ", seq, payload, error) select ",
    values!(),
    ", a.seq, a.payload, a.error from ",
    jobs!(),
    " straight_join pgflow_job_archive a force index (primary) on a.id = unhex(k.id)"
);

const FORGET: &str = concat!(
    "delete a from ",
    names!(),
    " straight_join pgflow_job_archive a force index (primary) on a.id = unhex(k.name)"
);

const UPDATE: &str = concat!(
    "update ",
    jobs!(),
    " straight_join pgflow_jobs j force index (pgflow_jobs_id) on j.id = unhex(k.id)
        set j.need = unhex(k.need), j.priority = k.priority, j.urgency = k.urgency, j.state = k.state,
            j.wake_at = k.wake_at, j.waits = k.waits, j.job_key = unhex(k.job_key), j.expires_at = k.expires_at,
            j.attempts = k.attempts, j.forgiven = k.forgiven, j.failures = k.failures, j.lapses = k.lapses,
            j.streak = k.streak, j.max_attempts = k.max_attempts, j.cancel = k.cancel, j.settled = k.settled,
            j.payload = coalesce(k.payload, j.payload), j.error = coalesce(k.error, j.error)"
);

const LEASE: &str = "
    insert into pgflow_job_leases (job, token, until, worker)
    select j.seq, k.token, k.until, k.worker
      from json_table(?, '$[*]' columns (
             id varchar(256) character set utf8mb4 path '$.id', token varchar(191) character set utf8mb4 path '$.token',
             until bigint path '$.until', worker varchar(191) character set utf8mb4 path '$.worker')) k
      straight_join pgflow_jobs j force index (pgflow_jobs_id) on j.id = unhex(k.id)
        on duplicate key update token = values(token), until = values(until), worker = values(worker)";

const UNLEASE: &str = concat!(
    "delete l from ",
    names!(),
    " straight_join pgflow_jobs j force index (pgflow_jobs_id) on j.id = unhex(k.name)
      straight_join pgflow_job_leases l force index (primary) on l.job = j.seq"
);

const OVER: &str = "
    delete e from json_table(?, '$[*]' columns (
             kind varchar(8) character set utf8mb4 path '$.kind', name varchar(256) character set utf8mb4 path '$.name')) k
      straight_join pgflow_job_edges e force index (primary) on e.kind = k.kind and e.dependency = unhex(k.name)";

const FREED: &str = concat!(
    "delete e from ",
    names!(),
    " straight_join pgflow_job_edges e force index (pgflow_job_edges_waiter) on e.waiter = unhex(k.name)"
);

const EDGES: &str = "
    insert into pgflow_job_edges (kind, dependency, waiter, policy)
    select k.kind, unhex(k.name), unhex(k.waiter), k.policy
      from json_table(?, '$[*]' columns (
             kind varchar(8) character set utf8mb4 path '$.kind', name varchar(256) character set utf8mb4 path '$.name',
             waiter varchar(256) character set utf8mb4 path '$.waiter',
             policy varchar(8) character set utf8mb4 path '$.policy')) k";

const ARCHIVE: &str = concat!(
    "insert into pgflow_job_archive (",
    columns!(),
    ", seq, payload, error, outcome, output, ended_at)
     select j.id, j.need, j.priority, j.urgency, j.state, j.wake_at, j.waits, j.job_key, j.expires_at, j.attempts,
            j.forgiven, j.failures, j.lapses, j.streak, j.max_attempts, j.cancel, j.settled, j.created_at,
            j.seq, j.payload, j.error, k.outcome, k.output, ?
       from json_table(?, '$[*]' columns (
              id varchar(256) character set utf8mb4 path '$.id',
              outcome varchar(16) character set utf8mb4 path '$.outcome',
              output longtext character set utf8mb4 path '$.output')) k
       straight_join pgflow_jobs j force index (pgflow_jobs_id) on j.id = unhex(k.id)"
);

const DELETE: &str = concat!(
    "delete j from ",
    names!(),
    " straight_join pgflow_jobs j force index (pgflow_jobs_id) on j.id = unhex(k.name)"
);

const HOLD: &str = "
    update json_table(?, '$[*]' columns (
             name varchar(256) character set utf8mb4 path '$.name',
             holder varchar(256) character set utf8mb4 path '$.holder')) k
      straight_join pgflow_job_keys h force index (primary) on h.job_key = unhex(k.name)
       set h.holder = unhex(k.holder)";

const FREE: &str = concat!(
    "delete h from ",
    names!(),
    " straight_join pgflow_job_keys h force index (primary) on h.job_key = unhex(k.name)"
);

const TRACE: &str = "
    insert into pgflow_job_trace (job, at, kind, who, token, detail)
    select unhex(k.job), ?, k.kind, k.who, k.token, k.detail
      from json_table(?, '$[*]' columns (
             number for ordinality,
             job varchar(256) character set utf8mb4 path '$.job', kind varchar(16) character set utf8mb4 path '$.kind',
             who varchar(191) character set utf8mb4 path '$.by', token varchar(191) character set utf8mb4 path '$.token',
             detail longtext character set utf8mb4 path '$.detail')) k
     order by k.number";

const PRUNE: &str = "
    select id from pgflow_job_archive force index (pgflow_job_archive_ended)
     where ended_at <= ? order by ended_at limit ? for update skip locked";

const PRUNE_TRACE: &str = concat!(
    "delete t from ",
    names!(),
    " straight_join pgflow_job_trace t force index (pgflow_job_trace_job) on t.job = unhex(k.name)"
);

/// Rows that were there to be locked.
const PRUNE_KEYS: &str = "delete from pgflow_job_keys where holder is null limit 1000";

const SETTINGS: &str = "update pgflow_job_settings set trace = ?, crash_threshold = ? where id = 1";

#[derive(Serialize)]
struct Job<'w> {
    id: Name<'w>,
    need: Name<'w>,
    priority: i32,
    urgency: i64,
    state: JobState,
    #[serde(skip_serializing_if = "Option::is_none")]
    wake_at: Option<Timestamp>,
    waits: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<Name<'w>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Timestamp>,
    attempts: u32,
    forgiven: u32,
    failures: u32,
    lapses: u32,
    streak: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_attempts: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cancel: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    settled: Option<&'w str>,
    created_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    payload: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'w str>,
}

#[derive(Serialize)]
struct Lease<'w> {
    id: Name<'w>,
    token: &'w str,
    until: Timestamp,
    worker: &'w str,
}

#[derive(Serialize)]
struct Edge<'w> {
    #[serde(flatten)]
    on: On,
    waiter: Name<'w>,
    policy: Policy,
}

#[derive(Serialize)]
struct Ended<'w> {
    id: Name<'w>,
    outcome: JobOutcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
}

#[derive(Serialize)]
struct Held<'w> {
    name: Name<'w>,
    holder: Name<'w>,
}

#[derive(Serialize)]
struct Traced<'w> {
    job: Name<'w>,
    kind: TraceKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<&'w str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<&'w str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

impl<'w> From<&'w pgflow_machine::job::Edge> for Edge<'w> {
    fn from(edge: &'w pgflow_machine::job::Edge) -> Self {
        let waiter = Name::from(&edge.waiter);
        Self { on: On::from(&edge.wait.on), waiter, policy: edge.wait.policy }
    }
}

impl<'w> From<&'w TraceEntry> for Traced<'w> {
    fn from(entry: &'w TraceEntry) -> Self {
        Self {
            job: Name::from(&entry.job),
            kind: entry.kind,
            by: entry.by.as_deref(),
            token: entry.token.as_ref().map(|token| token.0.as_str()),
            detail: entry.detail.as_ref().map(Value::to_string),
        }
    }
}

/// Executes a statement for rows, if there are any.
async fn execute<C: DerefMut<Target = MySqlConnection>, T: Serialize>(
    session: &mut MySqlSession<C>,
    sql: &'static str,
    rows: &[T],
) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut query = sqlx::query(sql);
    if sql == ARCHIVE || sql == TRACE {
        query = query.bind(session.now.micros());
    }
    query.bind(json_rows(rows)?).execute(session.connection()).await?;
    Ok(())
}

/// As [`execute`], for rows that may be large.
async fn execute_in_parts<C: DerefMut<Target = MySqlConnection>, T: Serialize>(
    session: &mut MySqlSession<C>,
    sql: &'static str,
    rows: Vec<T>,
    bytes: impl Fn(&T) -> usize,
) -> Result<()> {
    for part in parts(rows, MOST_BYTES, |row| bytes(row) + 1000) {
        execute(session, sql, &part).await?;
    }
    Ok(())
}

fn job<'w>(rows: &'w JobRows, writes: &'w JobWrites<'_>, id: &'w JobId) -> Result<Job<'w>> {
    let row = rows.row(id).ok_or_else(|| broken(format!("job {id} was not loaded")))?;
    Ok(Job {
        id: id.into(),
        need: Name(&row.need),
        priority: row.priority,
        urgency: -i64::from(row.priority),
        state: row.state,
        wake_at: row.wake_at,
        waits: row.waits,
        key: row.key.as_deref().map(Name),
        expires_at: row.expires_at,
        attempts: row.attempts,
        forgiven: row.forgiven,
        failures: row.failures,
        lapses: row.lapses,
        streak: row.streak,
        max_attempts: row.max_attempts,
        cancel: row.cancel.as_ref().map(serde_json::to_string).transpose().map_err(broken)?,
        settled: row.settled.as_ref().map(|token| token.0.as_str()),
        created_at: row.created_at,
        payload: writes.payloads.get(id).map(ToString::to_string),
        error: writes.errors.get(id).map(String::as_str),
    })
}

fn jobs<'w>(
    rows: &'w JobRows,
    writes: &'w JobWrites<'_>,
    ids: impl IntoIterator<Item = &'w JobId>,
) -> Result<Vec<Job<'w>>> {
    ids.into_iter().map(|id| job(rows, writes, id)).collect()
}

fn size(job: &Job<'_>) -> usize {
    job.payload.as_ref().map_or(0, String::len) + job.error.map_or(0, str::len)
}

pub(crate) async fn write<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    rows: &JobRows,
    writes: JobWrites<'_>,
) -> Result<()> {
    execute_in_parts(session, INSERT, jobs(rows, &writes, &writes.inserted)?, size).await?;
    execute_in_parts(session, RESTORE, jobs(rows, &writes, &writes.restored)?, size).await?;
    execute(session, FORGET, &named(&writes.restored)).await?;
    execute_in_parts(session, UPDATE, jobs(rows, &writes, &writes.updated)?, size).await?;
    leases(session, rows, &writes).await?;
    execute(session, OVER, &writes.over.iter().map(On::from).collect::<Vec<_>>()).await?;
    execute(session, FREED, &named(&writes.freed)).await?;
    let edges: Vec<_> = writes.edges.iter().map(Edge::from).collect();

    execute(session, EDGES, &edges).await?;
    archive(session, &writes).await?;
    keys(session, rows, &writes).await?;
    let trace: Vec<_> = writes.trace.iter().map(Traced::from).collect();
    execute(session, TRACE, &trace).await
}

fn named<'w>(ids: impl IntoIterator<Item = &'w JobId>) -> Vec<Name<'w>> {
    ids.into_iter().map(Name::from).collect()
}

async fn leases<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    rows: &JobRows,
    writes: &JobWrites<'_>,
) -> Result<()> {
    let (mut held, mut gone) = (Vec::new(), Vec::new());
    for id in &writes.leases {
        match rows.row(id).and_then(|row| row.lease.as_ref()) {
            None => gone.push(Name::from(id)),
            Some(lease) => held.push(Lease {
                id: id.into(),
                token: &lease.token.0,
                until: lease.until,
                worker: &lease.worker,
            }),
        }
    }
    execute(session, UNLEASE, &gone).await?;
    execute(session, LEASE, &held).await
}

async fn archive<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    writes: &JobWrites<'_>,
) -> Result<()> {
    let ended = writes.archived.iter().map(|ended| Ended {
        id: Name::from(&ended.id),
        outcome: ended.outcome,
        output: ended.output.map(Value::to_string),
    });
    let output = |ended: &Ended<'_>| ended.output.as_ref().map_or(0, String::len);
    execute_in_parts(session, ARCHIVE, ended.collect(), output).await?;
    execute(session, DELETE, &named(writes.archived.iter().map(|ended| &ended.id))).await
}

/// Keys that have a holder now; rows of those that have none go, also if they were only there to be locked.
async fn keys<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    rows: &JobRows,
    writes: &JobWrites<'_>,
) -> Result<()> {
    let held = writes.keys.iter().filter_map(|key| {
        let holder = rows.keys.get(key)?.as_ref()?;
        Some(Held { name: Name(key), holder: Name::from(holder) })
    });
    execute(session, HOLD, &held.collect::<Vec<_>>()).await?;
    let mut free: Vec<_> =
        rows.keys.iter().filter(|(_, holder)| holder.is_none()).map(|(key, _)| key).collect();
    free.sort_unstable();
    let free: Vec<_> = free.into_iter().map(|key| Name(key)).collect();
    execute(session, FREE, &free).await
}

pub(crate) async fn prune<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    ended_by: Timestamp,
    max: u32,
) -> Result<u64> {
    sqlx::query(PRUNE_KEYS).execute(session.connection()).await?;
    let query = sqlx::query_scalar(PRUNE).bind(ended_by.micros()).bind(max);
    let old: Vec<Vec<u8>> = query.fetch_all(session.connection()).await?;
    let old = old.into_iter().map(super::names::text).collect::<Result<Vec<_>>>()?;
    let names: Vec<_> = old.iter().map(|id| Name(id)).collect();
    execute(session, PRUNE_TRACE, &names).await?;
    execute(session, FORGET, &names).await?;
    Ok(old.len() as u64)
}

pub(crate) async fn set_settings<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    settings: JobSettings,
) -> Result<()> {
    let query = sqlx::query(SETTINGS).bind(i8::from(settings.trace)).bind(settings.crash_threshold);
    query.execute(session.connection()).await?;
    Ok(())
}
