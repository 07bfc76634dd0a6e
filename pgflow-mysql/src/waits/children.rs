//! Children that are waited for, and those that nobody waits for any more.

use std::ops::DerefMut;

use pgflow_machine::job::Dependency;
use pgflow_machine::wait::{Child, ChildEnd, ChildStatus, Glance};
use pgflow_machine::{RunId, TaskKey, Ties, Version};
use serde::Serialize;
use sqlx::MySqlConnection;
use uuid::Uuid;

use super::rows::place;
use crate::error::{Result, broken};
use crate::jobs::names::{Name, text};
use crate::json_rows::Hex;
use crate::load::word;
use crate::session::MySqlSession;
use pgflow_backend::store::{OpenWait, Orphan, WaitsOf};

const OPEN: &str = "
    insert into pgflow_awaited (run, step, task_index, attempt, position, kind, child, status, message)
    select unhex(k.run), unhex(k.step), k.task_index, k.attempt, k.position, k.kind, unhex(k.child), k.status, k.message
      from json_table(?, '$[*]' columns (
             run char(32) path '$.run', step varchar(256) character set utf8mb4 path '$.step', task_index int unsigned path '$.task_index',
             attempt int unsigned path '$.attempt', position int unsigned path '$.position',
             kind varchar(8) character set utf8mb4 path '$.kind', child varchar(256) character set utf8mb4 path '$.child',
             status varchar(16) character set utf8mb4 path '$.status', message longtext character set utf8mb4 path '$.message')) k";

const TIE: &str = "
    update json_table(?, '$[*]' columns (run char(32) path '$')) k
      straight_join pgflow_runs r force index (primary) on r.id = unhex(k.run)
       set r.awaited = 1";

const OF_TASK: [&str; 2] = [
    "select kind, child, status, message from pgflow_awaited
      where run = ? and step = ? and task_index = ? and attempt = ? and is_orphan = 0 order by position",
    "select kind, child, status, message from pgflow_awaited
      where run = ? and step = ? and task_index = ? and attempt = ? and is_orphan = 0 order by position for update",
];

/// While a task waits, none of the children of this attempt is an orphan.
const GLANCE: &str = "
    select exists (select 1 from pgflow_awaited force index (pgflow_awaited_status)
                    where run = ? and step = ? and task_index = ? and attempt = ? and status is null),
           exists (select 1 from pgflow_awaited force index (pgflow_awaited_status)
                    where run = ? and step = ? and task_index = ? and attempt = ? and status < 'completed')
        or exists (select 1 from pgflow_awaited force index (pgflow_awaited_status)
                    where run = ? and step = ? and task_index = ? and attempt = ? and status > 'completed')";

/// Those that go on are orphans now, unless they are detached.
const ORPHAN: &str = "
    update pgflow_waits w
      straight_join pgflow_awaited a force index (primary)
         on a.run = w.run and a.step = w.step and a.task_index = w.task_index and a.attempt = w.attempt
       set a.is_orphan = 1, a.orphaned = ?
     where w.run = ? and (? is null or w.step = ?) and (? is null or w.task_index = ?) and w.detached = 0
       and a.is_orphan = 0 and a.status is null";

const CLOSE: &str = "
    delete from pgflow_awaited
     where run = ? and (? is null or step = ?) and (? is null or task_index = ?) and is_orphan = 0";

/// How children ended, for all of their waits that are not orphans.
macro_rules! set_ends {
    () => {
        "
    update json_table(?, '$[*]' columns (
             kind varchar(8) character set utf8mb4 path '$.kind', child varchar(256) character set utf8mb4 path '$.child',
             status varchar(16) character set utf8mb4 path '$.status', message longtext character set utf8mb4 path '$.message')) k
      straight_join pgflow_awaited a force index (pgflow_awaited_child) on a.child = unhex(k.child)
       set a.status = k.status, a.message = k.message, a.is_news = 1
     where a.kind = k.kind and a.is_orphan = 0"
    };
}

const NOTE: &str = concat!(set_ends!(), " and a.status is null");

const REPLACE: &str = set_ends!();

const TIED: &str = "
    select r.id, exists (select 1 from pgflow_waits w force index (primary) where w.run = r.id), r.awaited
      from pgflow_runs r force index (pgflow_runs_listed)
     where r.flow = ? and (r.waits = 1 or r.awaited = 1) for update";

const SEEN: &str = "
    update pgflow_awaited force index (pgflow_awaited_news) set is_news = 0
     where run = ? and step = ? and task_index = ? and is_news = 1";

const ORPHANS: &str = "
    select kind, child, run, orphaned from pgflow_awaited force index (pgflow_awaited_orphans) where is_orphan = 1 limit ?";

const IS_AWAITED: &str = "
    select count(*) from pgflow_awaited force index (pgflow_awaited_child)
     where child = ? and kind = ? and is_orphan = 0 and status is null";

const FORGET: &str = "
    delete from pgflow_awaited where child = ? and kind = ? and is_orphan = 1";

#[derive(Serialize)]
struct Row<'a> {
    run: Hex,
    step: Name<'a>,
    task_index: u32,
    attempt: u32,
    position: usize,
    #[serde(flatten)]
    child: EndRow<'a>,
}

#[derive(Serialize)]
struct EndRow<'a> {
    kind: &'static str,
    child: Digits,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<ChildStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
}

/// A name of its own, as rows have it.
struct Digits(String);

impl Serialize for Digits {
    fn serialize<S: serde::Serializer>(
        &self,
        serializer: S,
    ) -> std::result::Result<S::Ok, S::Error> {
        Name(&self.0).serialize(serializer)
    }
}

fn end_row<'a>(on: &Dependency, end: Option<&'a ChildEnd>) -> EndRow<'a> {
    EndRow {
        kind: on.kind(),
        child: Digits(on.name()),
        status: end.map(|end| end.status),
        message: end.and_then(|end| end.message.as_deref()),
    }
}

pub(super) async fn open<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    waits: &[OpenWait],
) -> Result<()> {
    let rows = waits.iter().flat_map(|OpenWait { task, row, children }| {
        children.iter().enumerate().map(move |(position, Child { on, end })| Row {
            run: Hex(task.run),
            step: Name(&task.step),
            task_index: task.index,
            attempt: row.attempt,
            position,
            child: end_row(on, end.as_ref()),
        })
    });
    let rows: Vec<_> = rows.collect();
    for part in session.json_parts(&rows)? {
        sqlx::query(OPEN).bind(part).execute(session.connection()).await?;
    }
    let children = waits.iter().flat_map(|wait| &wait.children);
    let runs: Vec<_> = children.filter_map(|child| child.on.run().map(Hex)).collect();
    for part in session.json_parts(&runs)? {
        sqlx::query(TIE).bind(part).execute(session.connection()).await?;
    }
    Ok(())
}

type Columns = (String, Vec<u8>, Option<String>, Option<String>);

pub(crate) async fn of<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    task: &TaskKey,
    attempt: u32,
) -> Result<Vec<Child>> {
    let query = sqlx::query_as(OF_TASK[usize::from(session.locks)]).bind(task.run.0);
    let query = query.bind(task.step.as_bytes()).bind(task.index).bind(attempt);
    let found: Vec<Columns> = query.fetch_all(session.connection()).await?;
    let child = |(kind, name, status, message): Columns| {
        let status = status.map(|text| word(ChildStatus::from_word(&text), &text)).transpose()?;
        let end = status.map(|status| ChildEnd { status, message });
        Ok(Child { on: dependency(&kind, name)?, end })
    };
    found.into_iter().map(child).collect()
}

pub(crate) async fn glance<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    task: &TaskKey,
    attempt: u32,
) -> Result<Glance> {
    let mut query = sqlx::query_as(GLANCE);
    for _ in 0..3 {
        query = query.bind(task.run.0).bind(task.step.as_bytes()).bind(task.index).bind(attempt);
    }
    let (is_open, has_failed) = query.fetch_one(session.connection()).await?;
    Ok(Glance { is_open, has_failed })
}

fn dependency(kind: &str, name: Vec<u8>) -> Result<Dependency> {
    let on = Dependency::from_stored(kind, text(name)?);
    on.ok_or_else(|| broken(format!("there is no child of kind `{kind}`")))
}

pub(super) async fn close<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    of: WaitsOf<'_>,
    reason: &str,
) -> Result<u64> {
    let (run, step, index) = place(of);
    let query = sqlx::query(ORPHAN).bind(reason).bind(run.0).bind(step).bind(step);
    let query = query.bind(index).bind(index);
    let orphans = query.execute(session.connection()).await?.rows_affected();
    let query = sqlx::query(CLOSE).bind(run.0).bind(step).bind(step).bind(index).bind(index);
    query.execute(session.connection()).await?;
    Ok(orphans)
}

pub(crate) async fn note_ends<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    ends: &[(Dependency, ChildEnd)],
) -> Result<u64> {
    let rows: Vec<_> = ends.iter().map(|(on, end)| end_row(on, Some(end))).collect();
    let mut noted = 0;
    for part in session.json_parts(&rows)? {
        let query = sqlx::query(NOTE).bind(part);
        noted += query.execute(session.connection()).await?.rows_affected();
    }
    Ok(noted)
}

pub(crate) async fn replace_ends<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    ends: &[(Dependency, ChildEnd)],
) -> Result<()> {
    let rows: Vec<_> = ends.iter().map(|(on, end)| end_row(on, Some(end))).collect();
    for part in session.json_parts(&rows)? {
        sqlx::query(REPLACE).bind(part).execute(session.connection()).await?;
    }
    Ok(())
}

pub(crate) async fn tied_runs<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    version: &Version,
) -> Result<Vec<(RunId, Ties)>> {
    let query = sqlx::query_as(TIED).bind(version.id);
    let found: Vec<(Uuid, bool, bool)> = query.fetch_all(session.connection()).await?;
    let tied = found.into_iter().filter(|(_, waits, awaited)| *waits || *awaited);
    Ok(tied.map(|(run, waits, awaited)| (RunId(run), Ties { waits, awaited })).collect())
}

pub(crate) async fn mark_seen<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    task: &TaskKey,
) -> Result<()> {
    let query = sqlx::query(SEEN).bind(task.run.0).bind(task.step.as_bytes()).bind(task.index);
    query.execute(session.connection()).await?;
    Ok(())
}

pub(crate) async fn orphans<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    max: u32,
) -> Result<Vec<Orphan>> {
    let query = sqlx::query_as(ORPHANS).bind(max);
    let found: Vec<(String, Vec<u8>, Uuid, String)> = query.fetch_all(session.connection()).await?;
    let orphan = |(kind, child, parent, reason): (String, Vec<u8>, Uuid, String)| {
        Ok(Orphan { child: dependency(&kind, child)?, parent: RunId(parent), reason })
    };
    found.into_iter().map(orphan).collect()
}

pub(crate) async fn is_awaited<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    child: &Dependency,
) -> Result<bool> {
    let query = sqlx::query_scalar(IS_AWAITED).bind(child.name().into_bytes()).bind(child.kind());
    let waits: i64 = query.fetch_one(session.connection()).await?;
    Ok(waits > 0)
}

pub(crate) async fn forget<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    child: &Dependency,
) -> Result<()> {
    let query = sqlx::query(FORGET).bind(child.name().into_bytes()).bind(child.kind());
    query.execute(session.connection()).await?;
    Ok(())
}
