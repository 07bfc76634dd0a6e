//! Letting waits go on.

use sqlx::Row;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use crate::claim::int;
use crate::ended::ended;
use crate::engine::Lane;
use crate::error::translate;
use crate::open::Postgres;
use pgflow_backend::backend::{BackendError, EndedRun, Woken};

/// What is done at once for waits that nobody asked about.
const BATCH: u32 = 1000;

/// With the runs that ended.
const WAKE: &str = "
  select w.woken, w.timed_out, w.expired, w.told, e.flow_slug, e.run_id, e.status, to_jsonb(e.error) as error
    from pgflow.wake_waits($1) w
    left join lateral pgflow.ended_runs(w.runs) e on true";
const CANCEL: &str = "
  select c.children, e.flow_slug, e.run_id, e.status, to_jsonb(e.error) as error
    from pgflow.cancel_abandoned($1) c
    left join lateral pgflow.ended_runs(c.runs) e on true";

/// Whether what was done has left something to do for waits, in transactions of their own: see `_ask_to_wake`.
pub(crate) fn asks_to_wake(rows: &[PgRow]) -> bool {
    rows.iter().any(|row| row.try_get::<Option<&str>, _>("wakes").is_ok_and(|it| it == Some("on")))
}

impl Postgres {
    /// After something was done that must not fail because of this: the next sweep tries again.
    pub(crate) async fn wake_later(&self, lane: Lane) {
        if let Err(error) = self.wake(lane, BATCH).await {
            tracing::warn!(%error, "what waits is woken by the next sweep");
        }
    }

    /// After a statement whose rows say whether there is anything to do.
    pub(crate) async fn wake_after(&self, rows: &[PgRow]) {
        if asks_to_wake(rows) {
            self.wake_later(Lane::Worker).await;
        }
    }

    /// Until there is no more to do: who ends with this may be waited for itself.
    pub(crate) async fn wake(&self, lane: Lane, max: u32) -> Result<Woken, BackendError> {
        let mut woken = Woken::default();
        let mut left = u64::from(max);
        while left > 0 {
            let batch = u32::try_from(left).unwrap_or(u32::MAX);
            let (more, told) = self.wake_once(lane, batch).await?;
            let done = (more.woken + more.timed_out).max(more.cancelled).max(more.expired);
            woken.woken += more.woken;
            woken.timed_out += more.timed_out;
            woken.cancelled += more.cancelled;
            woken.expired += more.expired;
            // Those that were only told of an end may have been in the way of others.
            if done + told == 0 {
                break;
            }
            left = left.saturating_sub(done);
        }
        if woken.woken + woken.timed_out > 0 {
            self.bell.ring_all();
        }
        Ok(woken)
    }

    /// Also how much was told to waits that wait on.
    async fn wake_once(&self, lane: Lane, max: u32) -> Result<(Woken, u64), BackendError> {
        let rows = self.engine.ask(lane, || sqlx::query(WAKE).bind(int(max))).await;
        let rows = rows.map_err(translate)?;
        for run in over(&rows)? {
            run.announce();
        }
        let count = |rows: &[PgRow], column| -> Result<u64, BackendError> {
            let Some(row) = rows.first() else { return Ok(0) };
            let count: i32 = row.try_get(column).map_err(translate)?;
            Ok(u64::from(count.unsigned_abs()))
        };
        let children = self.engine.ask(lane, || sqlx::query(CANCEL).bind(int(max))).await;
        let children = children.map_err(translate)?;
        for run in over(&children)? {
            self.bell.cancelled(run.run);
            run.announce();
        }
        let woken = Woken {
            woken: count(&rows, "woken")?,
            timed_out: count(&rows, "timed_out")?,
            expired: count(&rows, "expired")?,
            cancelled: count(&children, "children")?,
        };
        Ok((woken, count(&rows, "told")?))
    }
}

/// Runs that ended.
fn over(rows: &[PgRow]) -> Result<Vec<EndedRun>, BackendError> {
    let is_run =
        |row: &&PgRow| row.try_get::<Option<Uuid>, _>("run_id").is_ok_and(|id| id.is_some());
    rows.iter().filter(is_run).map(|row| ended(row, "status", "error")).collect()
}
