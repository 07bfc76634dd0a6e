//! Waits: opened, loaded, closed.

use pgflow_machine::wait::{HookToken, WaitKind, WaitRow};
use pgflow_machine::{RunId, TaskKey, Timestamp};
use serde_json::{Value, json};

use super::children;
use crate::error::Result;
use crate::load::word;
use crate::payloads::parse;
use crate::row::row;
use crate::session::{Conn, SqliteSession};
use pgflow_backend::store::{OpenWait, WaitsOf};

const OPEN: &str = "
    insert into pgflow_waits (run_id, step, task_index, attempt, kind, since, until, token, schema, outcomes, detached, each)
    select unhex(k.value ->> 0), k.value ->> 1, k.value ->> 2, k.value ->> 3, k.value ->> 4, k.value ->> 5, k.value ->> 6,
           k.value ->> 7, k.value ->> 8, k.value ->> 9, k.value ->> 10, k.value ->> 11
      from json_each(?1) k";

const TIE_WAITING: &str = "
    update pgflow_runs set waits = 1 where waits = 0 and run_id in (select unhex(k.value ->> 0) from json_each(?1) k)";

const LOAD: &str = "
    select attempt, kind, since, until, token, schema, outcomes, detached, each
      from pgflow_waits where run_id = ?1 and step = ?2 and task_index = ?3";

/// What is a wait's, the wait itself last. A step or index that is null stands for all.
const CLOSE: &[&str] = &[
    "delete from pgflow_hooks
      where run_id = ?1 and (?2 is null or step = ?2) and (?3 is null or task_index = ?3) and substr(token, 1, 3) <> 'hk_'",
    "delete from pgflow_waits where run_id = ?1 and (?2 is null or step = ?2) and (?3 is null or task_index = ?3)",
];

row! {
    struct Found {
        attempt: u32,
        kind: String,
        since: i64,
        until: Option<i64>,
        token: Option<String>,
        schema: Option<String>,
        outcomes: bool,
        detached: bool,
        each: bool,
    }
}

pub(super) async fn open<C: Conn>(
    session: &mut SqliteSession<C>,
    waits: &[OpenWait],
) -> Result<()> {
    if waits.is_empty() {
        return Ok(());
    }
    let wait = |OpenWait { task, row, .. }: &OpenWait| {
        json!([
            task.run.0.simple().to_string(),
            task.step,
            task.index,
            row.attempt,
            row.kind,
            row.since.micros(),
            row.until.map(Timestamp::micros),
            row.token.as_ref().map(HookToken::as_str),
            row.schema.as_ref().map(Value::to_string),
            u8::from(row.outcomes),
            u8::from(row.detached),
            u8::from(row.each),
        ])
    };
    let rows: Value = waits.iter().map(wait).collect();
    let rows = rows.to_string();
    for sql in [OPEN, TIE_WAITING] {
        sqlx::query(sql).bind(&rows).execute(&mut *session.connection).await?;
    }
    children::open(session, waits).await
}

pub(super) async fn load<C: Conn>(
    session: &mut SqliteSession<C>,
    task: &TaskKey,
) -> Result<Option<WaitRow>> {
    let query = sqlx::query_as(LOAD).bind(task.run.0).bind(&task.step).bind(task.index);
    let found: Option<Found> = query.fetch_optional(&mut *session.connection).await?;
    let Some(found) = found else { return Ok(None) };
    Ok(Some(WaitRow {
        attempt: found.attempt,
        kind: word(WaitKind::from_word(&found.kind), &found.kind)?,
        since: Timestamp::from_micros(found.since),
        until: found.until.map(Timestamp::from_micros),
        token: found.token.map(HookToken::from_stored),
        schema: found.schema.as_deref().map(parse).transpose()?,
        outcomes: found.outcomes,
        detached: found.detached,
        each: found.each,
    }))
}

/// Run, step and index of what is meant.
pub(super) fn place(of: WaitsOf<'_>) -> (RunId, Option<&str>, Option<u32>) {
    match of {
        WaitsOf::Task(task) => (task.run, Some(&task.step), Some(task.index)),
        WaitsOf::Step(run, step) => (run, Some(step), None),
        WaitsOf::Run(run) => (run, None, None),
    }
}

pub(super) async fn close<C: Conn>(
    session: &mut SqliteSession<C>,
    of: WaitsOf<'_>,
    reason: &str,
) -> Result<u64> {
    let orphans = children::close(session, of, reason).await?;
    let (run, step, index) = place(of);
    for &sql in CLOSE {
        let query = sqlx::query(sql).bind(run.0).bind(step).bind(index);
        query.execute(&mut *session.connection).await?;
    }
    Ok(orphans)
}
