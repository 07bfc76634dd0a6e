//! Streams as they are.

use std::ops::DerefMut;

use pgflow_machine::log::{End, Owner, StreamKey, StreamRow};
use pgflow_machine::{RunId, RunStatus, TaskKey, Timestamp};
use sqlx::mysql::MySqlRow;
use sqlx::{FromRow, MySqlConnection, Row};
use uuid::Uuid;

use super::load::standing;
use super::place;
use crate::error::{Result, broken};
use crate::load::word;
use crate::session::MySqlSession;
use pgflow_backend::backend::{Chunk, PageSize, StreamQuery, StreamSummary};
use pgflow_backend::store::StreamFound;

macro_rules! columns {
    () => {
        "st.id, st.run, st.name, st.task_index, st.generation, st.begins_at, st.next_number, st.bytes, st.has_ended,
         st.error, st.expires_at"
    };
}
pub(super) use columns;

/// Numbers are dense, so that a range of them is a limit.
macro_rules! chunks {
    () => {
        " left join pgflow_stream_chunks c force index (primary)
            on c.stream = st.id and c.number >= ? and c.number < ?
           and (c.number = ? or c.starts_at < ? + (
                 select b.starts_at from pgflow_stream_chunks b force index (primary)
                  where b.stream = st.id and b.number = ?))"
    };
}

/// One statement, because each sees a moment of its own.
const OF_TASK: &str = concat!(
    "select r.status as run_status, s.status as step_status, t.status as task_status, t.attempts, ",
    columns!(),
    ", c.number, c.generation as written_by, c.data
      from pgflow_runs r force index (primary)
      straight_join pgflow_steps s force index (primary) on s.run = r.id and s.step = ?
      left join pgflow_tasks t force index (primary) on t.run = r.id and t.step = s.step and t.task_index = ?
      left join pgflow_streams st force index (pgflow_streams_name) on st.run = r.id and st.name = ? and st.task_index = ?",
    chunks!(),
    " where r.id = ? order by c.number"
);

const NAMED: &str = concat!(
    "select ",
    columns!(),
    ", c.number, c.generation as written_by, c.data from pgflow_streams st force index (pgflow_streams_name)",
    chunks!(),
    " where st.run = ? and st.name = ? and st.task_index = ? order by c.number"
);

const LIST: &str = concat!(
    "select ",
    columns!(),
    " from pgflow_streams st force index (pgflow_streams_name)
      where st.run = ? and st.name > ? order by st.name, st.task_index limit ?"
);

/// A stream's row, and its number.
pub(super) struct Found {
    pub(super) id: i64,
    run: Uuid,
    name: Vec<u8>,
    index: u32,
    pub(super) row: StreamRow,
}

impl<'r> FromRow<'r, MySqlRow> for Found {
    fn from_row(row: &'r MySqlRow) -> sqlx::Result<Self> {
        let has_ended = row.try_get::<i8, _>("has_ended")? != 0;
        let expires_at: Option<i64> = row.try_get("expires_at")?;
        let found = StreamRow {
            next: row.try_get("next_number")?,
            generation: row.try_get("generation")?,
            begins_at: row.try_get("begins_at")?,
            bytes: row.try_get("bytes")?,
            end: End::from_stored(has_ended, row.try_get("error")?),
            expires_at: expires_at.map(Timestamp::from_micros),
        };
        let (id, run) = (row.try_get("id")?, row.try_get("run")?);
        Ok(Self {
            id,
            run,
            name: row.try_get("name")?,
            index: row.try_get("task_index")?,
            row: found,
        })
    }
}

/// What is found of a stream that may not be there.
fn found(row: &MySqlRow) -> Result<Option<Found>> {
    let id: Option<i64> = row.try_get("id")?;
    Ok(id.map(|_| Found::from_row(row)).transpose()?)
}

fn chunk(row: &MySqlRow) -> Result<Option<Chunk>> {
    let Some(number) = row.try_get("number")? else { return Ok(None) };
    Ok(Some(Chunk { number, generation: row.try_get("written_by")?, data: row.try_get("data")? }))
}

fn chunks(rows: &[MySqlRow]) -> Result<Vec<Chunk>> {
    rows.iter().filter_map(|row| chunk(row).transpose()).collect()
}

pub(crate) async fn page<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    stream: &StreamKey,
    from: u64,
    size: PageSize,
) -> Result<StreamFound> {
    let until = from.saturating_add(size.chunks.into());
    let (run, name, index) = place(stream);
    let rows = match stream {
        StreamKey::Named(_) => {
            let query = sqlx::query(NAMED).bind(from).bind(until).bind(from).bind(size.bytes);
            let query = query.bind(from).bind(run).bind(name).bind(index);
            query.fetch_all(session.connection()).await?
        }
        StreamKey::Task(TaskKey { run, step, .. }) => {
            let Some(step) = step_of(session, *run, step).await? else {
                return Ok(StreamFound::default());
            };
            let query = sqlx::query(OF_TASK).bind(step).bind(index).bind(name).bind(index);
            let query = query.bind(from).bind(until).bind(from).bind(size.bytes).bind(from);
            query.bind(run.0).fetch_all(session.connection()).await?
        }
    };
    let Some(first) = rows.first() else { return Ok(StreamFound::default()) };
    let owner = match stream {
        StreamKey::Named(_) => None,
        StreamKey::Task(_) => Some(owner(first)?),
    };
    let (id, row) = found(first)?.map(|found| (found.id, found.row)).unzip();
    Ok(StreamFound { owner, id, row, chunks: chunks(&rows)? })
}

/// Where a step is in the flow of its run, which does not change.
async fn step_of<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    run: RunId,
    step: &str,
) -> Result<Option<u64>> {
    let query = sqlx::query_scalar("select flow from pgflow_runs where id = ?").bind(run.0);
    let flow: Option<i64> = query.fetch_optional(session.connection()).await?;
    let Some(flow) = flow else { return Ok(None) };
    Ok(session.version(flow)?.plan.index(step).map(|step| step as u64))
}

fn owner(row: &MySqlRow) -> Result<Owner> {
    let run: String = row.try_get("run_status")?;
    let step: String = row.try_get("step_status")?;
    let run = word(RunStatus::from_word(&run), &run)?;
    standing(run, &step, row.try_get("task_status")?, row.try_get("attempts")?)
}

pub(crate) async fn list<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    query: &StreamQuery,
) -> Result<Vec<StreamSummary>> {
    let run = query.run.map_or(Uuid::nil(), |run| run.0);
    // Every name is longer than nothing.
    let after = query.after.as_deref().filter(|_| query.run.is_none()).unwrap_or_default();
    let query = sqlx::query_as(LIST).bind(run).bind(after.as_bytes()).bind(query.max);
    let found: Vec<Found> = query.fetch_all(session.connection()).await?;
    found.into_iter().map(summary).collect()
}

fn summary(Found { run, name, index, row, .. }: Found) -> Result<StreamSummary> {
    let name = String::from_utf8(name).map_err(broken)?;
    let stream = if run.is_nil() {
        StreamKey::Named(name.into())
    } else {
        StreamKey::Task(TaskKey { run: RunId(run), step: name, index })
    };
    Ok(StreamSummary::new(stream, row))
}
