//! Waits that may be over, and those that people look at.

use std::ops::DerefMut;

use pgflow_machine::wait::{HookToken, WaitKind};
use pgflow_machine::{RunId, TaskKey, Timestamp};
use sqlx::MySqlConnection;
use uuid::Uuid;

use super::children;
use crate::error::Result;
use crate::jobs::names::text;
use crate::load::word;
use crate::session::MySqlSession;
use pgflow_backend::backend::{WaitQuery, WaitRecord, WaitingFor};

const DUE: &str = "
    (select run, step, task_index from pgflow_waits force index (pgflow_waits_until) where until_at <= ? order by until_at limit ?)
     union
    (select run, step, task_index from pgflow_awaited force index (pgflow_awaited_news) where is_news = 1 and is_orphan = 0 limit ?)
     order by 1, 2, 3";

/// The first that is due; no moment at all is earlier than 0.
const NEXT: &str = "
    select min(due.at) from (
      select min(until_at) as at from pgflow_waits where until_at > 0
       union all
      select min(expires_at) from pgflow_signals where expires_at > 0
       union all
      select 0 from dual where exists (
        select 1 from pgflow_awaited force index (pgflow_awaited_news) where is_news = 1 and is_orphan = 0)
       union all
      select 0 from dual where exists (
        select 1 from pgflow_awaited force index (pgflow_awaited_orphans) where is_orphan = 1)) due";

const LATE: &str = "
    select count(*), min(until_at) from (
      select until_at from pgflow_waits force index (pgflow_waits_until) where until_at <= ? order by until_at limit ?) late";

macro_rules! list {
    ($index:literal, $which:literal) => {
        concat!(
            "select run, step, task_index, attempt, kind, token, since, until_at from pgflow_waits force index (",
            $index,
            ") where ",
            $which,
            " and since >= ? and (since, run, step, task_index) > (?, ?, ?, ?)
              order by since, run, step, task_index limit ?"
        )
    };
}

/// All, those of a run, and the one of a token: each by an index of its own.
const LIST: [&str; 3] = [
    list!("pgflow_waits_since", "? is null and ? is null and ? is null"),
    list!("pgflow_waits_run", "run = ? and (? is null or token = ?)"),
    list!("pgflow_waits_token", "? is null and ? is not null and token = ?"),
];

type Columns = (Uuid, Vec<u8>, u32, u32, String, Option<Vec<u8>>, i64, Option<i64>);

pub(crate) async fn due<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    max: u32,
) -> Result<Vec<TaskKey>> {
    let query = sqlx::query_as(DUE).bind(session.now.micros()).bind(max).bind(max);
    let found: Vec<(Uuid, Vec<u8>, u32)> = query.fetch_all(session.connection()).await?;
    let key = |(run, step, index)| Ok(TaskKey { run: RunId(run), step: text(step)?, index });
    found.into_iter().map(key).collect()
}

pub(crate) async fn next<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
) -> Result<Option<Timestamp>> {
    if !session.has_waits {
        return Ok(None);
    }
    let next: Option<i64> = sqlx::query_scalar(NEXT).fetch_one(session.connection()).await?;
    Ok(next.map(Timestamp::from_micros))
}

/// How many should have ended by then, and when the first of them should have.
pub(crate) async fn late<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    until: Timestamp,
    max: u32,
) -> Result<(u64, Option<Timestamp>)> {
    let query = sqlx::query_as(LATE).bind(until.micros()).bind(max);
    let (waits, first): (i64, Option<i64>) = query.fetch_one(session.connection()).await?;
    Ok((waits.unsigned_abs(), first.map(Timestamp::from_micros)))
}

pub(crate) async fn list<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    wanted: &WaitQuery,
) -> Result<Vec<WaitRecord>> {
    let run = wanted.run.map(|run| run.0);
    let token = wanted.token.as_ref().map(|token| token.as_str().as_bytes());
    let (since, task) = wanted.place();
    let query = sqlx::query_as(LIST[usize::from(wanted.part())]).bind(run).bind(token).bind(token);
    let query = query.bind(since).bind(since).bind(task.run.0).bind(task.step.into_bytes());
    let query = query.bind(task.index).bind(wanted.max);
    let found: Vec<Columns> = query.fetch_all(session.connection()).await?;
    let mut waits = Vec::with_capacity(found.len());
    for found in found {
        waits.push(record(session, found).await?);
    }
    Ok(waits)
}

async fn record<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    (run, step, index, attempt, kind, token, since, until): Columns,
) -> Result<WaitRecord> {
    let task = TaskKey { run: RunId(run), step: text(step)?, index };
    let kind = word(WaitKind::from_word(&kind), &kind)?;
    let children = match kind {
        WaitKind::Hook | WaitKind::Sleep => Vec::new(),
        WaitKind::Runs | WaitKind::Jobs => children::of(session, &task, attempt).await?,
    };
    let token = token.map(text).transpose()?.map(HookToken::from_stored);
    let on = WaitingFor::new(kind, token, children.into_iter().map(|child| child.on));
    let (since, until) = (Timestamp::from_micros(since), until.map(Timestamp::from_micros));
    Ok(WaitRecord { task, attempt, on, since, until })
}
