//! Streams as they are.

use pgflow_machine::log::{End, Owner, StreamKey, StreamNeeds, StreamRow, StreamRows};
use pgflow_machine::{RunId, RunStatus, StepStatus, TaskKey, TaskStatus, Timestamp};
use uuid::Uuid;

use super::{int, place};
use crate::error::{Result, broken};
use crate::row::row;
use crate::session::{Conn, SqliteSession};
use pgflow_backend::backend::{Chunk, PageSize, StreamQuery, StreamSummary};
use pgflow_backend::store::StreamFound;

const STREAM: &str = "
    select id, run_id, name, task_index, generation, begins_at, next_number, bytes, has_ended, error, expires_at
      from pgflow_streams where run_id = ?1 and name = ?2 and task_index = ?3";

const WRITTEN: &str =
    "select next_seq from pgflow_stream_writers where stream = ?1 and writer = ?2";

const OWNER: &str = "
    select r.status as run, s.status as step, t.status as task, t.attempts
      from pgflow_runs r
      cross join pgflow_steps s on s.id >= r.id << 16 and s.id < (r.id + 1) << 16 and s.slug = ?2
      left join pgflow_tasks t on t.id = s.first_task + ?3 and ?3 < s.tasks
     where r.run_id = ?1";

/// Numbers are dense, so that a range of them is a limit.
const CHUNKS: &str = "
    select number, generation, data from pgflow_stream_chunks
     where stream = ?1 and number >= ?2 and number < ?3
       and (number = ?2 or starts_at < ?4 + (
             select starts_at from pgflow_stream_chunks where stream = ?1 and number = ?2))
     order by number";

const OF_RUN: &str = "
    select id, run_id, name, task_index, generation, begins_at, next_number, bytes, has_ended, error, expires_at
      from pgflow_streams where run_id = ?1 order by name, task_index limit ?2";

const NAMED: &str = "
    select id, run_id, name, task_index, generation, begins_at, next_number, bytes, has_ended, error, expires_at
      from pgflow_streams where run_id = ?1 and name > ?3 order by name limit ?2";

row! {
    pub(super) struct Found {
        pub(super) id: i64,
        run_id: Uuid,
        name: String,
        task_index: u32,
        generation: u32,
        begins_at: i64,
        next_number: i64,
        bytes: i64,
        has_ended: bool,
        error: Option<String>,
        expires_at: Option<i64>,
    }
}

row! {
    struct FoundOwner {
        run: String,
        step: String,
        task: Option<String>,
        attempts: Option<u32>,
    }
}

impl Found {
    fn key(&self) -> StreamKey {
        if self.run_id.is_nil() {
            return StreamKey::Named(self.name.as_str().into());
        }
        let (run, step) = (RunId(self.run_id), self.name.clone());
        StreamKey::Task(TaskKey { run, step, index: self.task_index })
    }

    fn row(self) -> StreamRow {
        StreamRow {
            next: self.next_number.unsigned_abs(),
            generation: self.generation,
            begins_at: self.begins_at.unsigned_abs(),
            bytes: self.bytes.unsigned_abs(),
            end: End::from_stored(self.has_ended, self.error),
            expires_at: self.expires_at.map(Timestamp::from_micros),
        }
    }
}

pub(super) async fn stream<C: Conn>(
    session: &mut SqliteSession<C>,
    stream: &StreamKey,
) -> Result<Option<Found>> {
    let (run, name, index) = place(stream);
    let query = sqlx::query_as(STREAM).bind(run).bind(name).bind(index);
    Ok(query.fetch_optional(&mut *session.connection).await?)
}

async fn owner<C: Conn>(
    session: &mut SqliteSession<C>,
    stream: &StreamKey,
) -> Result<Option<Owner>> {
    let StreamKey::Task(TaskKey { run, step, index }) = stream else { return Ok(None) };
    let query = sqlx::query_as(OWNER).bind(run.0).bind(step).bind(index);
    let found: Option<FoundOwner> = query.fetch_optional(&mut *session.connection).await?;
    let Some(found) = found else { return Ok(None) };
    let unknown = |text: &str| broken(format!("there is no status `{text}`"));
    let task = found.task.map(|text| TaskStatus::from_word(&text).ok_or_else(|| unknown(&text)));
    let run = RunStatus::from_word(&found.run).ok_or_else(|| unknown(&found.run))?;
    let step = StepStatus::from_word(&found.step).ok_or_else(|| unknown(&found.step))?;
    Ok(Some(Owner { run, step, task: task.transpose()?.zip(found.attempts) }))
}

pub(super) async fn load<C: Conn>(
    session: &mut SqliteSession<C>,
    needs: &StreamNeeds,
) -> Result<StreamRows> {
    let Some(key) = &needs.stream else { return Ok(StreamRows::default()) };
    let owner = owner(session, key).await?;
    let found = stream(session, key).await?;
    let written = match (&found, &needs.writer) {
        (Some(found), Some(writer)) => {
            let query = sqlx::query_scalar(WRITTEN).bind(found.id).bind(writer.to_string());
            query.fetch_optional(&mut *session.connection).await?.unwrap_or(0_i64)
        }
        _ => 0,
    };
    let written = written.unsigned_abs();
    Ok(StreamRows { owner, stream: found.map(Found::row), written })
}

pub(super) async fn page<C: Conn>(
    session: &mut SqliteSession<C>,
    key: &StreamKey,
    from: u64,
    size: PageSize,
) -> Result<StreamFound> {
    let owner = owner(session, key).await?;
    let Some(found) = stream(session, key).await? else {
        return Ok(StreamFound { owner, ..StreamFound::default() });
    };
    let query = sqlx::query_as(CHUNKS).bind(found.id).bind(int(from));
    let query = query.bind(int(from.saturating_add(size.chunks.into()))).bind(size.bytes);
    let chunks: Vec<(i64, u32, Vec<u8>)> = query.fetch_all(&mut *session.connection).await?;
    let chunk = |(number, generation, data): (i64, u32, Vec<u8>)| Chunk {
        number: number.unsigned_abs(),
        generation,
        data,
    };
    let chunks = chunks.into_iter().map(chunk).collect();
    Ok(StreamFound { owner, id: Some(found.id), row: Some(found.row()), chunks })
}

pub(super) async fn list<C: Conn>(
    session: &mut SqliteSession<C>,
    query: &StreamQuery,
) -> Result<Vec<StreamSummary>> {
    let found = if let Some(run) = query.run {
        sqlx::query_as(OF_RUN).bind(run.0).bind(query.max)
    } else {
        let after = query.after.as_deref().unwrap_or_default();
        sqlx::query_as(NAMED).bind(Uuid::nil()).bind(query.max).bind(after)
    };
    let found: Vec<Found> = found.fetch_all(&mut *session.connection).await?;
    Ok(found.into_iter().map(|found| StreamSummary::new(found.key(), found.row())).collect())
}
