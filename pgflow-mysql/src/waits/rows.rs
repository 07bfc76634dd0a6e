//! Waits: opened, loaded, closed.

use std::ops::DerefMut;

use pgflow_machine::wait::{HookToken, WaitKind, WaitRow};
use pgflow_machine::{RunId, TaskKey, Timestamp};
use serde::Serialize;
use serde_json::Value;
use sqlx::MySqlConnection;

use super::children;
use crate::error::Result;
use crate::jobs::names::{Name, text};
use crate::json_rows::Hex;
use crate::load::word;
use crate::payloads::parse;
use crate::session::MySqlSession;
use pgflow_backend::store::{OpenWait, WaitsOf};

const OPEN: &str = "
    insert into pgflow_waits (run, step, task_index, attempt, kind, since, until_at, token, payload_schema, outcomes, detached, each_child)
    select unhex(k.run), unhex(k.step), k.task_index, k.attempt, k.kind, k.since, k.until_at, unhex(k.token), k.payload_schema,
           k.outcomes, k.detached, k.each_child
      from json_table(?, '$[*]' columns (
             run char(32) path '$.run', step varchar(256) character set utf8mb4 path '$.step', task_index int unsigned path '$.task_index',
             attempt int unsigned path '$.attempt', kind varchar(16) character set utf8mb4 path '$.kind', since bigint path '$.since',
             until_at bigint path '$.until_at', token varchar(400) character set utf8mb4 path '$.token',
             payload_schema longtext character set utf8mb4 path '$.payload_schema', outcomes int path '$.outcomes',
             detached int path '$.detached', each_child int path '$.each_child')) k";

const TIE: &str = "
    update json_table(?, '$[*]' columns (run char(32) path '$.run')) k
      straight_join pgflow_runs r force index (primary) on r.id = unhex(k.run)
       set r.waits = 1 where r.waits = 0";

const LOAD: &str = "
    select attempt, kind, since, until_at, token, payload_schema, outcomes, detached, each_child
      from pgflow_waits where run = ? and step = ? and task_index = ?";

/// Those of a step or of all, and of an index or of all.
const CLOSE: [&str; 2] = [
    "delete from pgflow_hooks
      where run = ? and (? is null or step = ?) and (? is null or task_index = ?) and left(token, 3) <> 'hk_'",
    "delete from pgflow_waits where run = ? and (? is null or step = ?) and (? is null or task_index = ?)",
];

#[derive(Serialize)]
struct Row<'a> {
    run: Hex,
    step: Name<'a>,
    task_index: u32,
    attempt: u32,
    kind: WaitKind,
    since: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    until_at: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<Name<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    payload_schema: Option<String>,
    outcomes: u8,
    detached: u8,
    each_child: u8,
}

type Columns = (u32, String, i64, Option<i64>, Option<Vec<u8>>, Option<String>, bool, bool, bool);

fn row(OpenWait { task, row, .. }: &OpenWait) -> Row<'_> {
    Row {
        run: Hex(task.run),
        step: Name(&task.step),
        task_index: task.index,
        attempt: row.attempt,
        kind: row.kind,
        since: row.since.micros(),
        until_at: row.until.map(Timestamp::micros),
        token: row.token.as_ref().map(|token| Name(token.as_str())),
        payload_schema: row.schema.as_ref().map(Value::to_string),
        outcomes: row.outcomes.into(),
        detached: row.detached.into(),
        each_child: row.each.into(),
    }
}

pub(crate) async fn open<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    waits: &[OpenWait],
) -> Result<()> {
    if waits.is_empty() {
        return Ok(());
    }
    session.has_waits = true;
    for part in session.json_parts(&waits.iter().map(row).collect::<Vec<_>>())? {
        for sql in [OPEN, TIE] {
            sqlx::query(sql).bind(&part).execute(session.connection()).await?;
        }
    }
    children::open(session, waits).await
}

pub(crate) async fn load<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    task: &TaskKey,
) -> Result<Option<WaitRow>> {
    let query = sqlx::query_as(LOAD).bind(task.run.0).bind(task.step.as_bytes()).bind(task.index);
    let found: Option<Columns> = query.fetch_optional(session.connection()).await?;
    let Some(found) = found else { return Ok(None) };
    let (attempt, kind, since, until, token, schema, outcomes, detached, each) = found;
    Ok(Some(WaitRow {
        attempt,
        kind: word(WaitKind::from_word(&kind), &kind)?,
        since: Timestamp::from_micros(since),
        until: until.map(Timestamp::from_micros),
        token: token.map(text).transpose()?.map(HookToken::from_stored),
        schema: schema.as_deref().map(parse).transpose()?,
        outcomes,
        detached,
        each,
    }))
}

/// Run, step and index of what is meant.
pub(super) fn place(of: WaitsOf<'_>) -> (RunId, Option<&[u8]>, Option<u32>) {
    match of {
        WaitsOf::Task(task) => (task.run, Some(task.step.as_bytes()), Some(task.index)),
        WaitsOf::Step(run, step) => (run, Some(step.as_bytes()), None),
        WaitsOf::Run(run) => (run, None, None),
    }
}

pub(crate) async fn close<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    of: WaitsOf<'_>,
    reason: &str,
) -> Result<u64> {
    let orphans = children::close(session, of, reason).await?;
    let (run, step, index) = place(of);
    for sql in CLOSE {
        let query = sqlx::query(sql).bind(run.0).bind(step).bind(step).bind(index).bind(index);
        query.execute(session.connection()).await?;
    }
    Ok(orphans)
}
