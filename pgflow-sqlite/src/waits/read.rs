//! Waits that may be over, and those that people look at.

use pgflow_machine::wait::{HookToken, WaitKind};
use pgflow_machine::{RunId, TaskKey, Timestamp};
use uuid::Uuid;

use super::children;
use crate::error::Result;
use crate::load::word;
use crate::row::row;
use crate::session::{Conn, SqliteSession};
use pgflow_backend::backend::{WaitQuery, WaitRecord, WaitingFor};

pub(crate) const DUE: &str = "
    select run_id, step, task_index from (
      select run_id, step, task_index from pgflow_waits where until <= ?1 order by until limit ?2)
     union
    select run_id, step, task_index from (
      select run_id, step, task_index from pgflow_awaited where is_news = 1 and orphaned is null limit ?2)
     order by 1, 2, 3 limit ?2";

/// The first that is due; no moment at all is earlier than 0.
pub(crate) const NEXT: &str = "
    select min(at) from (
      select min(until) as at from pgflow_waits where until is not null
       union all
      select min(expires_at) from pgflow_signals where expires_at is not null
       union all
      select 0 where exists (select 1 from pgflow_awaited where is_news = 1 and orphaned is null)
                  or exists (select 1 from pgflow_awaited where orphaned is not null))";

const LATE: &str = "
    select count(*), min(until) from (
      select until from pgflow_waits where until <= ?1 order by until limit ?2)";

macro_rules! list {
    ($which:literal) => {
        concat!(
            "select run_id, step, task_index, attempt, kind, token, since, until from pgflow_waits
              where ",
            $which,
            " and since >= ?3 and (since, run_id, step, task_index) > (?3, ?4, ?5, ?6)
              order by since, run_id, step, task_index limit ?7"
        )
    };
}

/// All, those of a run, and the one of a token: each by an index of its own.
pub(crate) const LIST: [&str; 3] = [
    list!("?1 is null and ?2 is null"),
    list!("run_id = ?1 and (?2 is null or token = ?2)"),
    list!("?1 is null and token = ?2"),
];

row! {
    struct Found {
        run_id: Uuid,
        step: String,
        task_index: u32,
        attempt: u32,
        kind: String,
        token: Option<String>,
        since: i64,
        until: Option<i64>,
    }
}

pub(super) async fn due<C: Conn>(session: &mut SqliteSession<C>, max: u32) -> Result<Vec<TaskKey>> {
    let query = sqlx::query_as(DUE).bind(session.now.micros()).bind(max);
    let found: Vec<(Uuid, String, u32)> = query.fetch_all(&mut *session.connection).await?;
    let key = |(run, step, index)| TaskKey { run: RunId(run), step, index };
    Ok(found.into_iter().map(key).collect())
}

pub(super) async fn next<C: Conn>(session: &mut SqliteSession<C>) -> Result<Option<Timestamp>> {
    let query = sqlx::query_scalar(NEXT);
    let next: Option<i64> = query.fetch_one(&mut *session.connection).await?;
    Ok(next.map(Timestamp::from_micros))
}

/// How many should have ended by then, and when the first of them should have.
pub(super) async fn late<C: Conn>(
    session: &mut SqliteSession<C>,
    until: Timestamp,
    max: u32,
) -> Result<(u64, Option<Timestamp>)> {
    let query = sqlx::query_as(LATE).bind(until.micros()).bind(max);
    let (waits, first): (i64, Option<i64>) = query.fetch_one(&mut *session.connection).await?;
    Ok((waits.unsigned_abs(), first.map(Timestamp::from_micros)))
}

pub(super) async fn list<C: Conn>(
    session: &mut SqliteSession<C>,
    wanted: &WaitQuery,
) -> Result<Vec<WaitRecord>> {
    let list = LIST[usize::from(wanted.part())];
    let (since, task) = wanted.place();
    let query = sqlx::query_as(list).bind(wanted.run.map(|run| run.0));
    let query = query.bind(wanted.token.as_ref().map(HookToken::as_str)).bind(since);
    let query = query.bind(task.run.0).bind(task.step).bind(task.index).bind(wanted.max);
    let found: Vec<Found> = query.fetch_all(&mut *session.connection).await?;
    let mut waits = Vec::with_capacity(found.len());
    for found in found {
        waits.push(record(session, found).await?);
    }
    Ok(waits)
}

async fn record<C: Conn>(session: &mut SqliteSession<C>, found: Found) -> Result<WaitRecord> {
    let task = TaskKey { run: RunId(found.run_id), step: found.step, index: found.task_index };
    let kind = word(WaitKind::from_word(&found.kind), &found.kind)?;
    let children = match kind {
        WaitKind::Hook | WaitKind::Sleep => Vec::new(),
        WaitKind::Runs | WaitKind::Jobs => children::of(session, &task, found.attempt).await?,
    };
    let token = found.token.map(HookToken::from_stored);
    let on = WaitingFor::new(kind, token, children.into_iter().map(|child| child.on));
    Ok(WaitRecord {
        task,
        attempt: found.attempt,
        on,
        since: Timestamp::from_micros(found.since),
        until: found.until.map(Timestamp::from_micros),
    })
}
