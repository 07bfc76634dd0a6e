//! Streams, by the functions of the core.

use std::time::Duration;

use pgflow_machine::log::{
    Append, Appended, CloseStream, Closed, End, StreamKey, StreamProblem, Writer,
};
use pgflow_machine::{TaskKey, Timestamp};
use sqlx::Row;
use sqlx::postgres::PgRow;

use super::batch::without_nul;
use super::claim::int;
use super::engine::Lane;
use super::error::{translate, unexpected};
use super::open::Postgres;
use pgflow_backend::backend::{
    BackendError, Chunk, PageSize, Reply, StreamPage, StreamQuery, StreamSummary, Streams,
};

const APPEND: &str = "
    select outcome, number, appended, error
      from pgflow.append_chunks($1, $2, $3, $4, $5 * interval '1 microsecond')";
const APPEND_STEP: &str = "select outcome, number, appended, error from pgflow.append_step_chunks($1, $2, $3, $4, $5, $6)";
const CLOSE: &str =
    "select outcome, error from pgflow.close_stream($1, $2, $3 * interval '1 microsecond')";
const CLOSE_STEP: &str = "select outcome, error from pgflow.close_step_stream($1, $2, $3, $4, $5)";
const READ: &str = "select * from pgflow.read_chunks($1, $2, $3, $4)";
const READ_STEP: &str =
    "select *, null::bigint as stream from pgflow.read_step_chunks($1, $2, $3, $4, $5, $6)";
const LIST: &str = "
    select name, task_index, chunks, bytes, generation, has_ended, error,
           (extract(epoch from expires_at) * 1000000)::bigint as expires_at
      from pgflow.list_streams($1, $2, $3)";
const PRUNE: &str = "select pgflow.prune_streams($1)";

/// A thousand years: no clock of a database shows more.
pub(super) const LONGEST: i64 = 31_536_000_000_000_000;

impl Streams for Postgres {
    fn append<'a>(&'a self, append: &'a Append<'a>) -> Reply<'a, Result<Appended, StreamProblem>> {
        Box::pin(self.append_chunks(append))
    }

    fn close_stream<'a>(
        &'a self,
        close: &'a CloseStream<'a>,
    ) -> Reply<'a, Result<Closed, StreamProblem>> {
        Box::pin(self.close(close))
    }

    fn read_stream<'a>(
        &'a self,
        stream: &'a StreamKey,
        from: u64,
        size: PageSize,
    ) -> Reply<'a, Option<StreamPage>> {
        Box::pin(self.read_chunks(stream, from, size))
    }

    fn list_streams<'a>(&'a self, query: &'a StreamQuery) -> Reply<'a, Vec<StreamSummary>> {
        Box::pin(self.streams_of(query))
    }

    fn prune_streams(&self, max: u32) -> Reply<'_, u64> {
        Box::pin(async move {
            let statement = || sqlx::query(PRUNE).bind(int(max));
            let rows = self.engine.ask(Lane::Client, statement).await.map_err(translate)?;
            let pruned: i64 = rows[0].try_get(0).map_err(translate)?;
            Ok(pruned.unsigned_abs())
        })
    }
}

impl Postgres {
    async fn append_chunks(
        &self,
        append: &Append<'_>,
    ) -> Result<Result<Appended, StreamProblem>, BackendError> {
        if let Err(problem) = append.check() {
            return Ok(Err(problem));
        }
        let (first, chunks) = (bigint(append.first), append.chunks);
        let rows = match (append.stream, &append.writer) {
            (StreamKey::Task(TaskKey { run, step, index }), Writer::Attempt(attempt)) => {
                let statement = || {
                    let query = sqlx::query(APPEND_STEP).bind(run.0).bind(step).bind(int(*index));
                    query.bind(int(*attempt)).bind(first).bind(chunks)
                };
                self.engine.ask(Lane::Client, statement).await
            }
            (stream, writer) => {
                let (stream, writer) = (stream.to_string(), writer.to_string());
                let statement = || {
                    let query = sqlx::query(APPEND).bind(&stream).bind(&writer).bind(first);
                    query.bind(chunks).bind(micros(append.lasts))
                };
                self.engine.ask(Lane::Client, statement).await
            }
        };
        let rows = rows.map_err(translate)?;
        let answer = appended(only(&rows)?, append)?;
        if answer.as_ref().is_ok_and(|appended| appended.chunks > 0) {
            self.bell.stream(append.stream);
        }
        Ok(answer)
    }

    async fn close(
        &self,
        close: &CloseStream<'_>,
    ) -> Result<Result<Closed, StreamProblem>, BackendError> {
        if let Err(problem) = close.check() {
            return Ok(Err(problem));
        }
        let why = close.end.why();
        let rows = match (close.stream, &close.writer) {
            (StreamKey::Task(TaskKey { run, step, index }), Writer::Attempt(attempt)) => {
                let statement = || {
                    let query = sqlx::query(CLOSE_STEP).bind(run.0).bind(step).bind(int(*index));
                    query.bind(int(*attempt)).bind(why)
                };
                self.engine.ask(Lane::Client, statement).await
            }
            (stream, _) => {
                let stream = stream.to_string();
                let lasts = micros(close.lasts);
                let statement = || sqlx::query(CLOSE).bind(&stream).bind(why).bind(lasts);
                self.engine.ask(Lane::Client, statement).await
            }
        };
        let rows = rows.map_err(translate)?;
        let answer = closed(only(&rows)?, &close.writer)?;
        if answer == Ok(Closed::Now) {
            self.bell.stream(close.stream);
        }
        Ok(answer)
    }

    async fn read_chunks(
        &self,
        stream: &StreamKey,
        from: u64,
        size: PageSize,
    ) -> Result<Option<StreamPage>, BackendError> {
        let (from, chunks, bytes) = (bigint(from), int(size.chunks), int(size.bytes));
        let rows = match stream {
            StreamKey::Task(TaskKey { run, step, index }) => {
                let step = without_nul(step);
                let statement = || {
                    let query = sqlx::query(READ_STEP).bind(run.0).bind(&*step).bind(int(*index));
                    query.bind(from).bind(chunks).bind(bytes)
                };
                self.engine.ask(Lane::Client, statement).await
            }
            StreamKey::Named(name) => {
                let name = without_nul(name);
                let statement =
                    || sqlx::query(READ).bind(&*name).bind(from).bind(chunks).bind(bytes);
                self.engine.ask(Lane::Client, statement).await
            }
        };
        page(&rows.map_err(translate)?).map_err(translate)
    }

    async fn streams_of(&self, query: &StreamQuery) -> Result<Vec<StreamSummary>, BackendError> {
        let after = query.after.as_deref().map(without_nul);
        let statement = || {
            let run = query.run.map(|run| run.0);
            sqlx::query(LIST).bind(run).bind(after.as_deref()).bind(int(query.max))
        };
        let rows = self.engine.ask(Lane::Client, statement).await.map_err(translate)?;
        rows.iter().map(|row| summary(row, query).map_err(translate)).collect()
    }
}

/// Numbers are 63 bits wide in the database: there is nothing after the last of them.
fn bigint(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn micros(lasts: Duration) -> i64 {
    i64::try_from(lasts.as_micros()).unwrap_or(LONGEST).min(LONGEST)
}

fn only(rows: &[PgRow]) -> Result<&PgRow, BackendError> {
    rows.first().ok_or_else(|| unexpected(format_args!("no answer about a stream")))
}

fn number(row: &PgRow, column: &str) -> Result<Option<u64>, sqlx::Error> {
    Ok(row.try_get::<Option<i64>, _>(column)?.map(i64::unsigned_abs))
}

fn appended(
    row: &PgRow,
    append: &Append<'_>,
) -> Result<Result<Appended, StreamProblem>, BackendError> {
    let outcome: &str = row.try_get("outcome").map_err(translate)?;
    let first = number(row, "number").map_err(translate)?;
    let chunks = number(row, "appended").map_err(translate)?.unwrap_or_default();
    Ok(match outcome {
        "appended" => Ok(Appended { first, chunks }),
        "gap" => {
            let expected = first.unwrap_or_default();
            Err(StreamProblem::Gap { expected, first: append.first })
        }
        "ended" => Err(StreamProblem::Ended(end(row).map_err(translate)?)),
        other => Err(problem(other, &append.writer)?),
    })
}

fn closed(row: &PgRow, writer: &Writer) -> Result<Result<Closed, StreamProblem>, BackendError> {
    let outcome: &str = row.try_get("outcome").map_err(translate)?;
    Ok(match outcome {
        "closed" => Ok(Closed::Now),
        "ended" => Ok(Closed::Before(end(row).map_err(translate)?)),
        other => Err(problem(other, writer)?),
    })
}

fn problem(outcome: &str, writer: &Writer) -> Result<StreamProblem, BackendError> {
    match (outcome, writer) {
        ("unknown_task", _) => Ok(StreamProblem::UnknownTask),
        ("superseded", Writer::Attempt(attempt)) => Ok(StreamProblem::Superseded(*attempt)),
        _ => Err(unexpected(format_args!("an outcome it does not know: `{outcome}`"))),
    }
}

/// How it ended.
fn end(row: &PgRow) -> Result<End, sqlx::Error> {
    Ok(row.try_get::<Option<String>, _>("error")?.map_or(End::Eof, End::Error))
}

fn page(rows: &[PgRow]) -> Result<Option<StreamPage>, sqlx::Error> {
    let Some(first) = rows.first() else { return Ok(None) };
    let has_ended: bool = first.try_get("has_ended")?;
    Ok(Some(StreamPage {
        chunks: rows.iter().filter_map(|row| chunk(row).transpose()).collect::<Result<_, _>>()?,
        id: first.try_get("stream")?,
        next: number(first, "next_number")?.unwrap_or_default(),
        generation: first.try_get::<i32, _>("newest_generation")?.unsigned_abs(),
        begins_at: number(first, "begins_at")?.unwrap_or_default(),
        end: End::from_stored(has_ended, first.try_get("error")?),
        is_over: first.try_get("is_over")?,
    }))
}

fn chunk(row: &PgRow) -> Result<Option<Chunk>, sqlx::Error> {
    let Some(number) = number(row, "number")? else { return Ok(None) };
    let generation = row.try_get::<i32, _>("generation")?.unsigned_abs();
    Ok(Some(Chunk { number, generation, data: row.try_get("data")? }))
}

fn summary(row: &PgRow, query: &StreamQuery) -> Result<StreamSummary, sqlx::Error> {
    let (name, index): (String, i32) = (row.try_get("name")?, row.try_get("task_index")?);
    let stream = match query.run {
        Some(run) => StreamKey::Task(TaskKey { run, step: name, index: index.unsigned_abs() }),
        None => StreamKey::Named(name.into()),
    };
    let expires_at: Option<i64> = row.try_get("expires_at")?;
    Ok(StreamSummary {
        stream,
        chunks: number(row, "chunks")?.unwrap_or_default(),
        bytes: number(row, "bytes")?.unwrap_or_default(),
        generation: row.try_get::<i32, _>("generation")?.unsigned_abs(),
        end: End::from_stored(row.try_get("has_ended")?, row.try_get("error")?),
        expires_at: expires_at.map(Timestamp::from_micros),
    })
}
