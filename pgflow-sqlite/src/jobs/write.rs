//! What commands decided about jobs, written with a few statements.

use pgflow_machine::Timestamp;
use pgflow_machine::job::{
    ArchiveWrite, JobId, JobRow, JobRows, JobSettings, JobWrites, TraceEntry,
};
use serde_json::{Value, json};

use super::{ids, names};
use crate::error::{Result, broken};
use crate::session::{Conn, SqliteSession};

/// A job as [`row`] writes it: all of its columns but `seq`.
macro_rules! values {
    () => {
        "k.value ->> 0, k.value ->> 1, k.value ->> 2, k.value ->> 3, k.value ->> 4, k.value ->> 5, k.value ->> 6,
         k.value ->> 7, k.value ->> 8, k.value ->> 9, k.value ->> 10, k.value ->> 11, k.value ->> 12, k.value ->> 13,
         k.value ->> 14, k.value ->> 15, k.value ->> 16"
    };
}

macro_rules! columns {
    () => {
        "id, need, priority, state, wake_at, waits, key, expires_at, attempts, forgiven, failures, lapses, streak,
         max_attempts, cancel, settled, created_at"
    };
}

const INSERT: &str = concat!(
    "insert into pgflow_jobs (",
    columns!(),
    ", payload, error) select ",
    values!(),
    ", k.value ->> 17, k.value ->> 18 from json_each(?1) k order by k.key"
);

const RESTORE: &str = concat!(
    "insert into pgflow_jobs (",
    columns!(),
    ", seq, payload, error) select ",
    values!(),
    ", a.seq, a.payload, a.error
       from json_each(?1) k cross join pgflow_job_archive a on a.id = k.value ->> 0"
);

const FORGET: &str = "delete from pgflow_job_archive where id in (select value from json_each(?1))";

const UPDATE: &str = "
    update pgflow_jobs
       set need = k.value ->> 1, priority = k.value ->> 2, state = k.value ->> 3, wake_at = k.value ->> 4,
           waits = k.value ->> 5, key = k.value ->> 6, expires_at = k.value ->> 7, attempts = k.value ->> 8,
           forgiven = k.value ->> 9, failures = k.value ->> 10, lapses = k.value ->> 11, streak = k.value ->> 12,
           max_attempts = k.value ->> 13, cancel = k.value ->> 14, settled = k.value ->> 15,
           payload = coalesce(k.value ->> 17, payload), error = coalesce(k.value ->> 18, error)
      from json_each(?1) k
     where pgflow_jobs.id = k.value ->> 0";

const LEASE: &str = "
    insert into pgflow_job_leases (job, token, until, worker)
    select j.seq, k.value ->> 1, k.value ->> 2, k.value ->> 3
      from json_each(?1) k cross join pgflow_jobs j on j.id = k.value ->> 0
     where true
        on conflict (job) do update set token = excluded.token, until = excluded.until, worker = excluded.worker";

const UNLEASE: &str = "
    delete from pgflow_job_leases where job in (
      select j.seq from json_each(?1) k cross join pgflow_jobs j on j.id = k.value)";

const OVER: &str = "
    delete from pgflow_job_edges
     where (kind, dependency) in (select value ->> 0, value ->> 1 from json_each(?1))";

const FREED: &str =
    "delete from pgflow_job_edges where waiter in (select value from json_each(?1))";

const EDGES: &str = "
    insert into pgflow_job_edges (kind, dependency, waiter, policy)
    select value ->> 0, value ->> 1, value ->> 2, value ->> 3 from json_each(?1)";

const ARCHIVE: &str = concat!(
    "insert into pgflow_job_archive (",
    columns!(),
    ", seq, payload, error, outcome, output, ended_at) select ",
    values!(),
    ", j.seq, coalesce(k.value ->> 17, j.payload), coalesce(k.value ->> 18, j.error), k.value ->> 19, k.value ->> 20, ?2
       from json_each(?1) k cross join pgflow_jobs j on j.id = k.value ->> 0"
);

const DELETE: &str = "delete from pgflow_jobs where id in (select value from json_each(?1))";

const HOLD: &str = "
    insert into pgflow_job_keys (key, holder) select value ->> 0, value ->> 1 from json_each(?1)
     where true on conflict (key) do update set holder = excluded.holder";

const FREE: &str = "delete from pgflow_job_keys where key in (select value from json_each(?1))";

const TRACE: &str = "
    insert into pgflow_job_trace (job, at, kind, by, token, detail)
    select value ->> 0, ?2, value ->> 1, value ->> 2, value ->> 3, value ->> 4 from json_each(?1) order by key";

/// Jobs `a` that ended by ?1, and whose outputs no wait has still to read.
macro_rules! prunable {
    () => {
        "from pgflow_job_archive a
          where a.ended_at <= ?1 and not exists (
            select 1 from pgflow_awaited w where w.child = a.id and w.kind = 'job' and w.orphaned is null)"
    };
}
pub(super) use prunable;

const PRUNE: &str = concat!("select a.id ", prunable!(), " order by a.ended_at limit ?2");

const PRUNE_TRACE: &str =
    "delete from pgflow_job_trace where job in (select value from json_each(?1))";

const PRUNE_MESSAGES: &str =
    "delete from pgflow_messages where job in (select value from json_each(?1))";

const SETTINGS: &str =
    "update pgflow_job_settings set trace = ?1, crash_threshold = ?2 where id = 1";

/// Executes a statement for rows, if there are any.
async fn execute<C: Conn>(
    session: &mut SqliteSession<C>,
    sql: &'static str,
    rows: Vec<Value>,
) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut query = sqlx::query(sql).bind(Value::Array(rows).to_string());
    if sql == ARCHIVE || sql == TRACE {
        query = query.bind(session.now.micros());
    }
    query.execute(&mut *session.connection).await?;
    Ok(())
}

/// Jobs as rows of a parameter.
struct Written<'w, 'c> {
    rows: &'w JobRows,
    writes: &'w JobWrites<'c>,
}

impl Written<'_, '_> {
    fn rows<'i>(&self, ids: impl IntoIterator<Item = &'i JobId>) -> Result<Vec<Value>> {
        ids.into_iter().map(|id| self.row(id, None)).collect()
    }

    /// Jobs that go to the archive.
    fn ended(&self) -> Result<Vec<Value>> {
        self.writes.archived.iter().map(|end| self.row(&end.id, Some(end))).collect()
    }

    fn row(&self, id: &JobId, end: Option<&ArchiveWrite<'_>>) -> Result<Value> {
        let row = self.rows.row(id).ok_or_else(|| broken(format!("job {id} was not loaded")))?;
        let cancel = row.cancel.as_ref().map(serde_json::to_string).transpose().map_err(broken)?;
        let payload = self.writes.payloads.get(id).map(ToString::to_string);
        let JobRow { need, priority, state, waits, key, .. } = row;
        Ok(json!([
            id,
            need,
            priority,
            state,
            row.wake_at,
            waits,
            key,
            row.expires_at,
            row.attempts,
            row.forgiven,
            row.failures,
            row.lapses,
            row.streak,
            row.max_attempts,
            cancel,
            row.settled,
            row.created_at,
            payload,
            self.writes.errors.get(id),
            end.map(|end| end.outcome),
            end.and_then(|end| end.output).map(Value::to_string),
        ]))
    }
}

pub(super) async fn write<C: Conn>(
    session: &mut SqliteSession<C>,
    rows: &JobRows,
    writes: JobWrites<'_>,
) -> Result<()> {
    let written = Written { rows, writes: &writes };
    execute(session, INSERT, written.rows(&writes.inserted)?).await?;
    if !writes.restored.is_empty() {
        execute(session, RESTORE, written.rows(&writes.restored)?).await?;
        sqlx::query(FORGET).bind(ids(&writes.restored)).execute(&mut *session.connection).await?;
    }
    execute(session, UPDATE, written.rows(&writes.updated)?).await?;
    leases(session, rows, &writes).await?;
    let over = writes.over.iter().map(|on| json!([on.kind(), on.name()])).collect();
    execute(session, OVER, over).await?;
    execute(session, FREED, writes.freed.iter().map(|id| json!(id)).collect()).await?;
    let edge = |edge: &pgflow_machine::job::Edge| {
        json!([edge.wait.on.kind(), edge.wait.on.name(), edge.waiter, edge.wait.policy])
    };
    execute(session, EDGES, writes.edges.iter().map(edge).collect()).await?;
    archive(session, rows, &writes).await?;
    keys(session, rows, &writes).await?;
    execute(session, TRACE, writes.trace.iter().map(trace).collect()).await
}

async fn leases<C: Conn>(
    session: &mut SqliteSession<C>,
    rows: &JobRows,
    writes: &JobWrites<'_>,
) -> Result<()> {
    let lease = |id: &JobId| {
        let lease = rows.row(id)?.lease.as_ref()?;
        Some(json!([id, lease.token, lease.until, lease.worker]))
    };
    let held: Vec<_> = writes.leases.iter().filter_map(lease).collect();
    let gone = writes.leases.iter().filter(|id| lease(id).is_none());
    execute(session, UNLEASE, gone.map(|id| json!(id)).collect()).await?;
    execute(session, LEASE, held).await
}

async fn archive<C: Conn>(
    session: &mut SqliteSession<C>,
    rows: &JobRows,
    writes: &JobWrites<'_>,
) -> Result<()> {
    execute(session, ARCHIVE, Written { rows, writes }.ended()?).await?;
    execute(session, DELETE, writes.archived.iter().map(|ended| json!(ended.id)).collect()).await
}

async fn keys<C: Conn>(
    session: &mut SqliteSession<C>,
    rows: &JobRows,
    writes: &JobWrites<'_>,
) -> Result<()> {
    let holder = |key: &String| rows.keys.get(key).and_then(Option::as_ref);
    let held = writes.keys.iter().filter_map(|key| Some(json!([key, holder(key)?])));
    execute(session, HOLD, held.collect()).await?;
    let free = writes.keys.iter().filter(|key| holder(key).is_none());
    execute(session, FREE, free.map(|key| json!(key)).collect()).await
}

fn trace(entry: &TraceEntry) -> Value {
    let detail = entry.detail.as_ref().map(Value::to_string);
    json!([entry.job, entry.kind, entry.by, entry.token, detail])
}

pub(super) async fn prune<C: Conn>(
    session: &mut SqliteSession<C>,
    ended_by: Timestamp,
    max: u32,
) -> Result<u64> {
    let query = sqlx::query_scalar(PRUNE).bind(ended_by.micros()).bind(max);
    let old: Vec<String> = query.fetch_all(&mut *session.connection).await?;
    let old_names = names(old.iter().map(String::as_str));
    for delete in [FORGET, PRUNE_TRACE, PRUNE_MESSAGES] {
        sqlx::query(delete).bind(&old_names).execute(&mut *session.connection).await?;
    }
    Ok(old.len() as u64)
}

pub(super) async fn settings<C: Conn>(
    session: &mut SqliteSession<C>,
    settings: JobSettings,
) -> Result<()> {
    let query = sqlx::query(SETTINGS).bind(settings.trace).bind(settings.crash_threshold);
    query.execute(&mut *session.connection).await?;
    Ok(())
}
