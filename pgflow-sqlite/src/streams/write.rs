//! What is written of streams.

use pgflow_machine::log::{End, StreamKey, StreamNeeds, StreamRow, StreamRows, StreamWrites};
use serde_json::json;

use super::{int, place};
use crate::error::Result;
use crate::session::{Conn, SqliteSession};

const STREAM: &str = "
    insert into pgflow_streams (run_id, name, task_index, generation, begins_at, next_number, bytes, has_ended, error, expires_at)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    on conflict (run_id, name, task_index) do update
       set generation = excluded.generation, begins_at = excluded.begins_at, next_number = excluded.next_number,
           bytes = excluded.bytes, has_ended = excluded.has_ended, error = excluded.error, expires_at = excluded.expires_at
    returning id";

const WRITER: &str = "
    insert into pgflow_stream_writers (stream, writer, next_seq) values (?, ?, ?)
    on conflict (stream, writer) do update set next_seq = excluded.next_seq";

/// The chunks as one blob, and where in it each of them is: one statement, however many there are. A blob of no bytes is bound as null.
const CHUNKS: &str = "
    insert into pgflow_stream_chunks (stream, number, generation, starts_at, data)
    select ?1, ?2 + k.key, ?3, ?4 + (k.value ->> 0), coalesce(substr(?5, (k.value ->> 0) + 1, k.value ->> 1), x'')
      from json_each(?6) k";

const OVER: &str =
    "select id from pgflow_streams where expires_at <= ?1 order by expires_at limit ?2";

/// What is a stream's, the stream itself last.
const DELETE: &[&str] = &[
    "delete from pgflow_stream_chunks where stream in (select value from json_each(?1))",
    "delete from pgflow_stream_writers where stream in (select value from json_each(?1))",
    "delete from pgflow_streams where id in (select value from json_each(?1))",
];

pub(super) async fn write<C: Conn>(
    session: &mut SqliteSession<C>,
    needs: &StreamNeeds,
    rows: &StreamRows,
    writes: &StreamWrites<'_>,
) -> Result<()> {
    let (Some(key), Some(row)) = (&needs.stream, &rows.stream) else { return Ok(()) };
    let stream = write_row(session, key, row).await?;
    if let Some(writer) = needs.writer.as_ref().filter(|_| writes.writer) {
        let query = sqlx::query(WRITER).bind(stream).bind(writer.to_string());
        query.bind(int(rows.written)).execute(&mut *session.connection).await?;
    }
    if !writes.chunks.is_empty() {
        let query = sqlx::query(CHUNKS).bind(stream).bind(int(writes.first)).bind(row.generation);
        let query = query.bind(int(writes.offset)).bind(writes.chunks.concat());
        query.bind(places(writes.chunks)).execute(&mut *session.connection).await?;
    }
    Ok(())
}

/// Where each chunk begins in all of them together, and how long it is.
fn places(chunks: &[Vec<u8>]) -> String {
    let place = |begin: &mut usize, chunk: &Vec<u8>| {
        let place = (*begin, chunk.len());
        *begin += chunk.len();
        Some(place)
    };
    json!(chunks.iter().scan(0, place).collect::<Vec<_>>()).to_string()
}

async fn write_row<C: Conn>(
    session: &mut SqliteSession<C>,
    key: &StreamKey,
    row: &StreamRow,
) -> Result<i64> {
    let (run, name, index) = place(key);
    let query = sqlx::query_scalar(STREAM).bind(run).bind(name).bind(index);
    let query = query.bind(row.generation).bind(int(row.begins_at)).bind(int(row.next));
    let query = query.bind(int(row.bytes)).bind(row.end.is_some());
    let query = query.bind(row.end.as_ref().and_then(End::why));
    let query = query.bind(row.expires_at.map(pgflow_machine::Timestamp::micros));
    Ok(query.fetch_one(&mut *session.connection).await?)
}

pub(super) async fn prune<C: Conn>(session: &mut SqliteSession<C>, max: u32) -> Result<u64> {
    let query = sqlx::query_scalar(OVER).bind(session.now.micros()).bind(max);
    let streams: Vec<i64> = query.fetch_all(&mut *session.connection).await?;
    delete(session, &streams).await?;
    Ok(streams.len() as u64)
}

async fn delete<C: Conn>(session: &mut SqliteSession<C>, streams: &[i64]) -> Result<()> {
    if streams.is_empty() {
        return Ok(());
    }
    let streams = json!(streams).to_string();
    for &delete in DELETE {
        sqlx::query(delete).bind(&streams).execute(&mut *session.connection).await?;
    }
    Ok(())
}
