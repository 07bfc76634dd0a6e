//! Rows of tasks.

use std::collections::HashMap;
use std::ops::DerefMut;
use std::time::Duration;

use pgflow_machine::{BULK_FROM, Places, RunId, TaskStatus, TaskWrite};
use serde::Serialize;
use sqlx::MySqlConnection;

use crate::error::Result;
use crate::json_rows::StepRow;
use crate::load::TaskAt;
use crate::session::MySqlSession;

/// The element of a map is not needed any more once its task is completed. An error that is not given stays as it was.
const WRITE: &str = "
    update json_table(?, '$[*]' columns (
             run char(32) path '$.run', step int path '$.step', task_index int path '$.task_index',
             status varchar(16) character set utf8mb4 path '$.status',
             ready_at bigint path '$.ready_at', lost_at bigint path '$.lost_at', attempts int path '$.attempts',
             refunded int path '$.refunded', losses int path '$.losses',
             is_yielded int path '$.is_yielded',
             said longtext character set utf8mb4 path '$.said',
             output longtext character set utf8mb4 path '$.output')) k
      straight_join pgflow_tasks t force index (primary) on t.run = unhex(k.run) and t.step = k.step and t.task_index = k.task_index
       set t.status = k.status, t.ready_at = k.ready_at, t.lost_at = k.lost_at, t.attempts = k.attempts,
           t.refunded = k.refunded, t.losses = k.losses, t.error = if(k.is_yielded, t.error, coalesce(k.said, t.error)), t.output = k.output,
           t.yielded_attempt = if(k.is_yielded, k.attempts, t.yielded_attempt),
           t.yield_reason = if(k.is_yielded, k.said, t.yield_reason),
           t.input = case when k.status = 'completed' then null else t.input end,
           t.worker = case when k.status = 'started' then t.worker end,
           t.started_at = case when k.status = 'queued' then null else t.started_at end";

/// Nobody may claim or take back tasks of these steps any more.
const DROP: &str = "
    update json_table(?, '$[*]' columns (run char(32) path '$.run', step int path '$.step')) k
      straight_join pgflow_tasks t force index (primary) on t.run = unhex(k.run) and t.step = k.step
       set t.ready_at = null, t.lost_at = null
     where t.ready_at is not null or t.lost_at is not null";

/// Tasks of these steps that are queued may be claimed again.
const REQUEUE: &str = "
    update json_table(?, '$[*]' columns (run char(32) path '$.run', step int path '$.step')) k
      straight_join pgflow_tasks t force index (primary) on t.run = unhex(k.run) and t.step = k.step
       set t.ready_at = case when t.task_index < ? then ? else ? + (cast(t.task_index as signed) - ?) * ? end
     where t.status = 'queued'";

#[derive(Serialize)]
struct Row {
    #[serde(flatten)]
    at: TaskAt,
    status: TaskStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    ready_at: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lost_at: Option<i64>,
    attempts: u32,
    refunded: u32,
    losses: u32,
    /// Whether `said` is why the task was yielded, and not an error: always there, because looking for what is not there reads
    /// the whole output.
    is_yielded: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    said: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
}

impl Row {
    fn new(write: &TaskWrite<'_>) -> Self {
        let TaskWrite { at, row, error, yielded, output } = write;
        Self {
            at: (*at).into(),
            status: row.status,
            ready_at: row.ready_at.map(pgflow_machine::Timestamp::micros),
            lost_at: row.lost_after.map(pgflow_machine::Timestamp::micros),
            attempts: row.attempts,
            refunded: row.refunded,
            losses: row.losses,
            is_yielded: yielded.is_some().into(),
            said: yielded.as_ref().or(error.as_ref()).cloned(),
            output: output.map(ToString::to_string),
        }
    }
}

/// Bytes that steps have put out in a batch.
pub(super) type Outputs = HashMap<(RunId, usize), usize>;

/// Writes tasks, and says how much those that completed put out.
pub(super) async fn write<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    writes: &[TaskWrite<'_>],
) -> Result<Outputs> {
    let mut outputs = Outputs::new();
    let mut rows = Vec::new();
    for write in writes {
        let row = Row::new(write);
        if write.row.status == TaskStatus::Completed {
            let bytes = row.output.as_ref().map_or(0, String::len);
            *outputs.entry((write.at.run, write.at.step)).or_default() += bytes + 1;
        }
        rows.push(row);
    }
    for part in session.json_parts(&rows)? {
        sqlx::query(WRITE).bind(part).execute(session.connection()).await?;
    }
    Ok(outputs)
}

pub(super) async fn drop_tasks<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    steps: &[StepRow],
) -> Result<()> {
    for part in session.json_parts(steps)? {
        sqlx::query(DROP).bind(part).execute(session.connection()).await?;
    }
    Ok(())
}

pub(super) async fn requeue<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    steps: &[StepRow],
) -> Result<()> {
    let (places, bulk_from) = (Places::new(session.now, Duration::ZERO), i64::from(BULK_FROM));
    for part in session.json_parts(steps)? {
        let query = sqlx::query(REQUEUE).bind(part).bind(bulk_from);
        let query = query.bind(places.first.micros()).bind(places.bulk.micros());
        query.bind(bulk_from).bind(places.ahead).execute(session.connection()).await?;
    }
    Ok(())
}
