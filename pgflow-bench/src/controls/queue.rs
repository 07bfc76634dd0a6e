//! The bare queue: send, read and archive a batch of messages, one transaction each.

use std::time::Duration;

use serde_json::{Value, json};
use sqlx::PgConnection;

use crate::error::{Doing, Result};
use crate::sample::Reading;
use crate::target::Target;

const QUEUE: &str = "pgflow_bench_control";

pub(crate) async fn run(target: &mut Target, duration: Duration, batch: u32) -> Result<Reading> {
    let create = "select pgmq.create($1)";
    sqlx::query(create)
        .bind(QUEUE)
        .execute(&mut target.probe.conn)
        .await
        .doing("creating the control's queue")?;
    let messages: Vec<Value> = (0..batch).map(|number| json!({"number": number})).collect();
    let mark = target.probe.mark().await?;
    let work = async |lane: &mut PgConnection, _| cycle(lane, &messages).await;
    let sent = super::repeat(&mut target.lanes, duration, work).await?;
    let cost = target.probe.since(mark).await?;
    let drop = "select pgmq.drop_queue($1)";
    sqlx::query(drop)
        .bind(QUEUE)
        .execute(&mut target.probe.conn)
        .await
        .doing("dropping the control's queue")?;
    Ok(Reading::new("send, read, archive", "message", sent, cost).at(format!("by {batch}")))
}

/// Archived messages, which may have been sent by another connection.
async fn cycle(lane: &mut PgConnection, messages: &[Value]) -> Result<u32> {
    sqlx::query("select pgmq.send_batch($1, $2)")
        .bind(QUEUE)
        .bind(messages)
        .execute(&mut *lane)
        .await
        .doing("sending messages")?;
    let count = i32::try_from(messages.len()).unwrap_or(i32::MAX);
    let ids: Vec<i64> = sqlx::query_scalar("select msg_id from pgmq.read($1, 60, $2)")
        .bind(QUEUE)
        .bind(count)
        .fetch_all(&mut *lane)
        .await
        .doing("reading messages")?;
    let archived: Vec<i64> = sqlx::query_scalar("select * from pgmq.archive($1, $2)")
        .bind(QUEUE)
        .bind(ids)
        .fetch_all(lane)
        .await
        .doing("archiving messages")?;
    Ok(u32::try_from(archived.len()).unwrap_or(u32::MAX))
}
