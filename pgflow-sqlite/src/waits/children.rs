//! Children that are waited for, and those that nobody waits for any more.

use pgflow_machine::job::Dependency;
use pgflow_machine::wait::{Child, ChildEnd, ChildStatus, Glance};
use pgflow_machine::{RunId, TaskKey, Ties, Version};
use serde_json::{Value, json};
use uuid::Uuid;

use super::rows::place;
use crate::error::{Result, broken};
use crate::load::word;
use crate::session::{Conn, SqliteSession};
use pgflow_backend::store::{OpenWait, Orphan, WaitsOf};

const OPEN: &str = "
    insert into pgflow_awaited (run_id, step, task_index, attempt, position, kind, child, status, message)
    select unhex(k.value ->> 0), k.value ->> 1, k.value ->> 2, k.value ->> 3, k.value ->> 4, k.value ->> 5, k.value ->> 6,
           k.value ->> 7, k.value ->> 8
      from json_each(?1) k";

const TIE_AWAITED: &str = "
    update pgflow_runs set awaited = 1
     where run_id in (select unhex(replace(k.value ->> 6, '-', '')) from json_each(?1) k where k.value ->> 5 = 'run')";

const OF_TASK: &str = "
    select kind, child, status, message from pgflow_awaited
     where run_id = ?1 and step = ?2 and task_index = ?3 and attempt = ?4 and orphaned is null order by position";

/// While a task waits, none of the children of this attempt is an orphan.
pub(crate) const GLANCE: &str = "
    select exists (select 1 from pgflow_awaited indexed by pgflow_awaited_status
                    where run_id = ?1 and step = ?2 and task_index = ?3 and attempt = ?4 and status is null),
           exists (select 1 from pgflow_awaited indexed by pgflow_awaited_status
                    where run_id = ?1 and step = ?2 and task_index = ?3 and attempt = ?4 and status < 'completed')
        or exists (select 1 from pgflow_awaited indexed by pgflow_awaited_status
                    where run_id = ?1 and step = ?2 and task_index = ?3 and attempt = ?4 and status > 'completed')";

/// Those that go on are orphans now, unless they are detached.
const ORPHAN: &str = "
    update pgflow_awaited set orphaned = ?4
     where run_id = ?1 and (?2 is null or step = ?2) and (?3 is null or task_index = ?3) and orphaned is null and status is null
       and exists (select 1 from pgflow_waits w
                    where w.run_id = pgflow_awaited.run_id and w.step = pgflow_awaited.step
                      and w.task_index = pgflow_awaited.task_index and w.detached = 0)";

const CLOSE: &str = "
    delete from pgflow_awaited
     where run_id = ?1 and (?2 is null or step = ?2) and (?3 is null or task_index = ?3) and orphaned is null";

/// How children ended, for all of their waits that are not orphans.
macro_rules! set_ends {
    () => {
        "
    update pgflow_awaited set status = k.value ->> 2, message = k.value ->> 3, is_news = 1
      from json_each(?1) k
     where pgflow_awaited.child = k.value ->> 1 and pgflow_awaited.kind = k.value ->> 0
       and pgflow_awaited.orphaned is null"
    };
}

const NOTE: &str = concat!(set_ends!(), " and pgflow_awaited.status is null");

const REPLACE: &str = set_ends!();

const TIED: &str = "
    select run_id, exists (select 1 from pgflow_waits w where w.run_id = r.run_id), awaited from pgflow_runs r
     where flow = ?1 and (waits = 1 or awaited = 1)";

pub(crate) const SEEN: &str = "
    update pgflow_awaited indexed by pgflow_awaited_news set is_news = 0 where run_id = ?1 and step = ?2 and task_index = ?3 and is_news = 1";

const ORPHANS: &str =
    "select kind, child, run_id, orphaned from pgflow_awaited where orphaned is not null limit ?1";

const IS_AWAITED: &str = "
    select exists (select 1 from pgflow_awaited where child = ?2 and kind = ?1 and orphaned is null and status is null)";

const FORGET: &str =
    "delete from pgflow_awaited where child = ?2 and kind = ?1 and orphaned is not null";

/// Kind, id, and how it ended.
type Found = (String, String, Option<String>, Option<String>);

fn child((kind, name, status, message): Found) -> Result<Child> {
    let status = status.map(|text| word(ChildStatus::from_word(&text), &text)).transpose()?;
    let end = status.map(|status| ChildEnd { status, message });
    Ok(Child { on: dependency(&kind, name)?, end })
}

fn dependency(kind: &str, name: String) -> Result<Dependency> {
    let on = Dependency::from_stored(kind, name);
    on.ok_or_else(|| broken(format!("there is no child of kind `{kind}`")))
}

pub(super) async fn open<C: Conn>(
    session: &mut SqliteSession<C>,
    waits: &[OpenWait],
) -> Result<()> {
    let rows = waits.iter().flat_map(|OpenWait { task, row, children }| {
        children.iter().enumerate().map(move |(position, Child { on, end })| {
            json!([
                task.run.0.simple().to_string(),
                task.step,
                task.index,
                row.attempt,
                position,
                on.kind(),
                on.name(),
                end.as_ref().map(|end| end.status),
                end.as_ref().and_then(|end| end.message.as_deref()),
            ])
        })
    });
    let rows: Vec<Value> = rows.collect();
    if rows.is_empty() {
        return Ok(());
    }
    let rows = Value::Array(rows).to_string();
    for sql in [OPEN, TIE_AWAITED] {
        sqlx::query(sql).bind(&rows).execute(&mut *session.connection).await?;
    }
    Ok(())
}

pub(super) async fn of<C: Conn>(
    session: &mut SqliteSession<C>,
    task: &TaskKey,
    attempt: u32,
) -> Result<Vec<Child>> {
    let query = sqlx::query_as(OF_TASK).bind(task.run.0).bind(&task.step).bind(task.index);
    let found: Vec<Found> = query.bind(attempt).fetch_all(&mut *session.connection).await?;
    found.into_iter().map(child).collect()
}

pub(super) async fn glance<C: Conn>(
    session: &mut SqliteSession<C>,
    task: &TaskKey,
    attempt: u32,
) -> Result<Glance> {
    let query = sqlx::query_as(GLANCE).bind(task.run.0).bind(&task.step).bind(task.index);
    let (is_open, has_failed) = query.bind(attempt).fetch_one(&mut *session.connection).await?;
    Ok(Glance { is_open, has_failed })
}

pub(super) async fn close<C: Conn>(
    session: &mut SqliteSession<C>,
    of: WaitsOf<'_>,
    reason: &str,
) -> Result<u64> {
    let (run, step, index) = place(of);
    let query = sqlx::query(ORPHAN).bind(run.0).bind(step).bind(index).bind(reason);
    let orphans = query.execute(&mut *session.connection).await?.rows_affected();
    let query = sqlx::query(CLOSE).bind(run.0).bind(step).bind(index);
    query.execute(&mut *session.connection).await?;
    Ok(orphans)
}

pub(super) async fn note_ends<C: Conn>(
    session: &mut SqliteSession<C>,
    ends: &[(Dependency, ChildEnd)],
) -> Result<u64> {
    let query = sqlx::query(NOTE).bind(end_rows(ends));
    Ok(query.execute(&mut *session.connection).await?.rows_affected())
}

pub(super) async fn replace_ends<C: Conn>(
    session: &mut SqliteSession<C>,
    ends: &[(Dependency, ChildEnd)],
) -> Result<()> {
    sqlx::query(REPLACE).bind(end_rows(ends)).execute(&mut *session.connection).await?;
    Ok(())
}

fn end_rows(ends: &[(Dependency, ChildEnd)]) -> String {
    let end = |(on, end): &(Dependency, ChildEnd)| {
        json!([on.kind(), on.name(), end.status, end.message.as_deref()])
    };
    let ends: Value = ends.iter().map(end).collect();
    ends.to_string()
}

pub(super) async fn tied_runs<C: Conn>(
    session: &mut SqliteSession<C>,
    version: &Version,
) -> Result<Vec<(RunId, Ties)>> {
    let query = sqlx::query_as(TIED).bind(version.id);
    let found: Vec<(Uuid, bool, bool)> = query.fetch_all(&mut *session.connection).await?;
    let tied = found.into_iter().filter(|(_, waits, awaited)| *waits || *awaited);
    Ok(tied.map(|(run, waits, awaited)| (RunId(run), Ties { waits, awaited })).collect())
}

pub(super) async fn mark_seen<C: Conn>(
    session: &mut SqliteSession<C>,
    task: &TaskKey,
) -> Result<()> {
    let query = sqlx::query(SEEN).bind(task.run.0).bind(&task.step).bind(task.index);
    query.execute(&mut *session.connection).await?;
    Ok(())
}

pub(super) async fn orphans<C: Conn>(
    session: &mut SqliteSession<C>,
    max: u32,
) -> Result<Vec<Orphan>> {
    let query = sqlx::query_as(ORPHANS).bind(max);
    let found: Vec<(String, String, Uuid, String)> =
        query.fetch_all(&mut *session.connection).await?;
    let orphan = |(kind, child, parent, reason): (String, String, Uuid, String)| {
        Ok(Orphan { child: dependency(&kind, child)?, parent: RunId(parent), reason })
    };
    found.into_iter().map(orphan).collect()
}

pub(super) async fn is_awaited<C: Conn>(
    session: &mut SqliteSession<C>,
    child: &Dependency,
) -> Result<bool> {
    let query = sqlx::query_scalar(IS_AWAITED).bind(child.kind()).bind(child.name());
    Ok(query.fetch_one(&mut *session.connection).await?)
}

pub(super) async fn forget<C: Conn>(
    session: &mut SqliteSession<C>,
    child: &Dependency,
) -> Result<()> {
    let query = sqlx::query(FORGET).bind(child.kind()).bind(child.name());
    query.execute(&mut *session.connection).await?;
    Ok(())
}
