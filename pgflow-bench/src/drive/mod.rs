//! Takes and settles tasks the way a worker does, without a worker.

mod allotment;
mod batched;
mod drain;
mod phase;
mod published;
mod spawn;

use serde_json::{Value, json};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::args::Protocol;
use crate::error::Result;

pub(crate) use drain::drain;
pub(crate) use phase::{claim_all, settle_all};
pub(crate) use spawn::{Starts, spawn};

/// The published worker's default batch.
const PUBLISHED_BATCH: u32 = 10;

/// A started task that waits for its result.
#[derive(Debug, Clone)]
pub(crate) struct Task {
    run: Uuid,
    step: String,
    index: i32,
    /// None from cores without a fence.
    attempt: Option<i32>,
}

impl Task {
    fn output(&self) -> Value {
        json!({"step": self.step, "index": self.index, "ok": true})
    }
}

/// How to work on one queue.
#[derive(Debug, Clone)]
pub(crate) struct Driver {
    pub(crate) protocol: Protocol,
    pub(crate) queue: String,
    pub(crate) worker: Uuid,
    pub(crate) batch: u32,
}

impl Driver {
    /// A driver with the batch that is usual for the protocol.
    pub(crate) fn new(protocol: Protocol, queue: &str, worker: Uuid, batch: u32) -> Self {
        let batch = match protocol {
            Protocol::Batched => batch,
            Protocol::Published => PUBLISHED_BATCH,
        };
        Self { protocol, queue: queue.to_owned(), worker, batch }
    }

    /// Up to `limit` tasks, started; empty when none is visible.
    async fn claim(&self, conn: &mut PgConnection, limit: u32) -> Result<Vec<Task>> {
        match self.protocol {
            Protocol::Batched => batched::claim(self, conn, limit).await,
            Protocol::Published => published::claim(self, conn, limit).await,
        }
    }

    /// Completes them and returns how many that changed.
    async fn settle(&self, conn: &mut PgConnection, tasks: &[Task]) -> Result<u32> {
        match self.protocol {
            Protocol::Batched => batched::settle(conn, tasks).await,
            Protocol::Published => published::settle(conn, tasks).await,
        }
    }
}

/// Rows that both protocols return for a started task. The input is sent and received but not looked at.
fn task_of(row: &sqlx::postgres::PgRow) -> Result<Task, sqlx::Error> {
    use sqlx::Row;
    Ok(Task {
        run: row.try_get("run_id")?,
        step: row.try_get("step_slug")?,
        index: row.try_get("task_index")?,
        attempt: row.try_get("attempt").ok(),
    })
}
