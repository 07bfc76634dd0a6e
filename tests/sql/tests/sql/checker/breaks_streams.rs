//! Streams, their writers and chunks.

use super::bench::{Break, each_is_reported_on};
use crate::harness::{Db, define};

/// A stream of a task in its second attempt, and one of its own.
pub(super) async fn database() -> Db {
    let db = Db::with(&define("f", &["a; max_attempts => 2"])).await;
    let run = db.start("f", "1").await;
    for attempt in 1..=2 {
        db.claim("f").await;
        db.run(&format!(
            "select pgflow.append_step_chunks('{}', 'a', 0, {attempt}, 0, '{{x,yy}}')",
            run.id
        ))
        .await;
        if attempt == 1 {
            run.fail("a", 0, "oh").await;
            db.wake("f").await;
        }
    }
    db.run("select pgflow.append_chunks('logs', 'me', 0, '{x,yy}')").await;
    db.run("select pgflow.append_chunks('logs', 'you', 0, '{z}')").await;
    db.check().await;
    db
}

pub(super) const BREAKS: &[Break] = &[
    ("stream_chunks", "delete from pgflow.stream_chunks where number = 0"),
    ("stream_chunks", "update pgflow.streams set next_number = next_number + 1"),
    ("stream_chunks", "update pgflow.streams set bytes = bytes + 1"),
    ("stream_chunks", "update pgflow.stream_chunks set number = number + 9 where number = 2"),
    ("stream_generations", "update pgflow.streams set generation = 3 where name = 'a'"),
    ("stream_generations", "update pgflow.streams set begins_at = 1 where name = 'a'"),
    ("stream_offsets", "update pgflow.stream_chunks set starts_at = starts_at + 1"),
    ("stream_writers", "delete from pgflow.stream_writers where writer = 'you'"),
    ("stream_writers", "update pgflow.stream_writers set next_seq = next_seq + 1"),
    ("stream_owner", "update pgflow.streams set name = 'b' where name = 'a'"),
    ("stream_owner", "update pgflow.streams set task_index = 1"),
    ("stream_generations", "update pgflow.stream_chunks set generation = 3 where number = 0"),
    ("stream_generations", "update pgflow.stream_chunks set generation = 0 where generation = 1"),
    ("stream_chunks", "update pgflow.stream_chunks set number = -1 where number = 0"),
    ("stream_lost", "delete from pgflow.streams"),
    ("stream_writer_lost", "delete from pgflow.streams"),
];

#[tokio::test]
async fn broken_streams_are_reported() {
    each_is_reported_on(&database().await, BREAKS).await;
}
