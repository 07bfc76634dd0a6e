//! What is written of streams.

use std::fmt::Write as _;
use std::ops::DerefMut;

use pgflow_machine::Timestamp;
use pgflow_machine::log::{End, StreamKey, StreamNeeds, StreamRow, StreamRows, StreamWrites};
use serde::Serialize;
use sqlx::MySqlConnection;

use super::place;
use crate::error::Result;
use crate::json_rows::json_rows;
use crate::session::MySqlSession;

/// One that another transaction made meanwhile is a duplicate, and the whole transition is done again.
const INSERT: &str = "
    insert into pgflow_streams (generation, begins_at, next_number, bytes, has_ended, error, expires_at, run, name, task_index)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

const UPDATE: &str = "
    update pgflow_streams force index (pgflow_streams_name)
       set generation = ?, begins_at = ?, next_number = ?, bytes = ?, has_ended = ?, error = ?, expires_at = ?,
           id = last_insert_id(id)
     where run = ? and name = ? and task_index = ?";

const WRITER: &str = "
    insert into pgflow_stream_writers (stream, writer, next_seq) values (?, ?, ?)
    on duplicate key update next_seq = values(next_seq)";

const CHUNKS: &str = "
    insert into pgflow_stream_chunks (stream, number, generation, starts_at, data)
    select ?, ? + k.place - 1, ?, ? + k.starts_at, unhex(k.data)
      from json_table(?, '$[*]' columns (
             place for ordinality, starts_at bigint path '$.starts_at',
             data longtext character set utf8mb4 path '$.data')) k";

const OVER: &str = "
    select id from pgflow_streams force index (pgflow_streams_expiry)
     where expires_at <= ? order by expires_at limit ? for update skip locked";

/// What is a stream's, the stream itself last.
const DELETE: &[&str] = &[
    "delete c from json_table(?, '$[*]' columns (id bigint path '$')) k
       straight_join pgflow_stream_chunks c force index (primary) on c.stream = k.id",
    "delete w from json_table(?, '$[*]' columns (id bigint path '$')) k
       straight_join pgflow_stream_writers w force index (primary) on w.stream = k.id",
    "delete s from json_table(?, '$[*]' columns (id bigint path '$')) k
       straight_join pgflow_streams s force index (primary) on s.id = k.id",
];

/// A chunk, as a row.
#[derive(Serialize)]
struct ChunkRow {
    /// Bytes of those that come before it here.
    starts_at: usize,
    /// Digits, for `unhex`.
    data: String,
}

pub(crate) async fn write<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    needs: &StreamNeeds,
    rows: &StreamRows,
    writes: &StreamWrites<'_>,
) -> Result<()> {
    let (Some(key), Some(row)) = (&needs.stream, &rows.stream) else { return Ok(()) };
    let sql = if writes.is_new { INSERT } else { UPDATE };
    let stream = write_row(session, sql, key, row).await?;
    if let Some(writer) = needs.writer.as_ref().filter(|_| writes.writer) {
        let query = sqlx::query(WRITER).bind(stream).bind(writer.to_string().into_bytes());
        query.bind(rows.written).execute(session.connection()).await?;
    }
    if !writes.chunks.is_empty() {
        let query = sqlx::query(CHUNKS).bind(stream).bind(writes.first).bind(row.generation);
        let query = query.bind(writes.offset).bind(json_rows(&chunk_rows(writes.chunks))?);
        query.execute(session.connection()).await?;
    }
    Ok(())
}

async fn write_row<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    sql: &'static str,
    key: &StreamKey,
    row: &StreamRow,
) -> Result<u64> {
    let (run, name, index) = place(key);
    let query = sqlx::query(sql).bind(row.generation).bind(row.begins_at).bind(row.next);
    let query = query.bind(row.bytes).bind(row.end.is_some());
    let query = query.bind(row.end.as_ref().and_then(End::why));
    let query = query.bind(row.expires_at.map(Timestamp::micros)).bind(run).bind(name).bind(index);
    Ok(query.execute(session.connection()).await?.last_insert_id())
}

fn chunk_rows(chunks: &[Vec<u8>]) -> Vec<ChunkRow> {
    let mut starts_at = 0;
    let mut row = |chunk: &Vec<u8>| {
        let row = ChunkRow { starts_at, data: digits(chunk) };
        starts_at += chunk.len();
        row
    };
    chunks.iter().map(&mut row).collect()
}

fn digits(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a string does not fail.
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

pub(crate) async fn prune<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    max: u32,
) -> Result<u64> {
    let query = sqlx::query_scalar(OVER).bind(session.now.micros()).bind(max);
    let streams: Vec<i64> = query.fetch_all(session.connection()).await?;
    if streams.is_empty() {
        return Ok(0);
    }
    let ids = json_rows(&streams)?;
    for &delete in DELETE {
        sqlx::query(delete).bind(&ids).execute(session.connection()).await?;
    }
    Ok(streams.len() as u64)
}
