//! Streams, as psql sees them.

mod appending;
mod owners;
mod racing;

use crate::harness::Db;

/// Numbers and texts of all chunks of a named stream.
async fn texts(db: &Db, name: &str) -> Vec<String> {
    let read = format!(
        "select number, convert_from(data, 'UTF8') from pgflow.read_chunks('{name}') where number is not null"
    );
    db.rows(&read).await
}

/// A call that appends texts.
fn append(name: &str, writer: &str, first: u64, texts: &[&str]) -> String {
    let chunks: Vec<_> = texts.iter().map(|text| format!("'{text}'::bytea")).collect();
    format!(
        "select outcome, number, appended from pgflow.append_chunks('{name}', '{writer}', {first}, array[{}]::bytea[])",
        chunks.join(", ")
    )
}
