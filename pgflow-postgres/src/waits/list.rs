//! Which tasks wait.

use std::time::Duration;

use pgflow_machine::job::JobId;
use pgflow_machine::wait::HookToken;
use pgflow_machine::{RunId, TaskKey, Timestamp};
use sqlx::Row;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use crate::batch::without_nul;
use crate::claim::int;
use crate::engine::Lane;
use crate::error::{translate, unexpected};
use crate::open::Postgres;
use pgflow_backend::backend::{BackendError, LateWaits, WaitQuery, WaitRecord, WaitingFor};

const LIST: &str = "
  select run_id, step_slug, task_index, attempt, kind, token, children,
         (extract(epoch from since) * 1000000)::bigint as since, (extract(epoch from until) * 1000000)::bigint as until
    from pgflow.list_waits(
      $1, $2, timestamptz 'epoch' + $3 * interval '1 microsecond', $4, $5, $6, $7)";

const LATE: &str = "
  select waits, (extract(epoch from late_since) * 1000000)::bigint as late_since,
         (extract(epoch from clock_timestamp()) * 1000000)::bigint as now
    from pgflow.count_late_waits($1 * interval '1 microsecond', $2)";

/// A hundred years, in microseconds.
const LONGEST: i64 = 3_155_760_000_000_000;

impl Postgres {
    pub(super) async fn waits_late_by(
        &self,
        by: Duration,
        max: u32,
    ) -> Result<LateWaits, BackendError> {
        let by = i64::try_from(by.as_micros()).unwrap_or(LONGEST).min(LONGEST);
        let statement = || sqlx::query(LATE).bind(by).bind(int(max));
        let rows = self.engine.ask(Lane::Client, statement).await.map_err(translate)?;
        let waits: i64 = rows[0].try_get("waits").map_err(translate)?;
        let first: Option<i64> = rows[0].try_get("late_since").map_err(translate)?;
        let now = Timestamp::from_micros(rows[0].try_get("now").map_err(translate)?);
        Ok(LateWaits::new(waits.unsigned_abs(), first.map(Timestamp::from_micros), now))
    }

    pub(super) async fn waits_of(
        &self,
        query: &WaitQuery,
    ) -> Result<Vec<WaitRecord>, BackendError> {
        let step = query.after.as_ref().map(|(_, task)| without_nul(&task.step));
        let statement = || {
            let statement = sqlx::query(LIST).bind(query.run.map(|run| run.0));
            let statement = statement.bind(query.token.as_ref().map(HookToken::as_str));
            let after = query.after.as_ref();
            let statement = statement.bind(after.map(|(since, _)| since.micros()));
            let statement = statement.bind(after.map(|(_, task)| task.run.0));
            let statement = statement.bind(step.as_deref());
            statement.bind(after.map(|(_, task)| int(task.index))).bind(int(query.max))
        };
        let rows = self.engine.ask(Lane::Client, statement).await.map_err(translate)?;
        rows.iter().map(record).collect()
    }
}

fn record(row: &PgRow) -> Result<WaitRecord, BackendError> {
    let number = |column| row.try_get::<i32, _>(column).map(i32::unsigned_abs).map_err(translate);
    let run = RunId(row.try_get("run_id").map_err(translate)?);
    let step = row.try_get("step_slug").map_err(translate)?;
    let until: Option<i64> = row.try_get("until").map_err(translate)?;
    Ok(WaitRecord {
        task: TaskKey { run, step, index: number("task_index")? },
        attempt: number("attempt")?,
        on: waiting_for(row)?,
        since: Timestamp::from_micros(row.try_get("since").map_err(translate)?),
        until: until.map(Timestamp::from_micros),
    })
}

fn waiting_for(row: &PgRow) -> Result<WaitingFor, BackendError> {
    let children = || row.try_get::<Vec<String>, _>("children").map_err(translate);
    let run = |id: &String| {
        let id = Uuid::parse_str(id).map(RunId);
        id.map_err(|_| unexpected("a run whose id is none"))
    };
    match row.try_get("kind").map_err(translate)? {
        "hook" => {
            let token: Option<String> = row.try_get("token").map_err(translate)?;
            Ok(WaitingFor::Hook { token: token.map(HookToken::from_stored) })
        }
        "sleep" => Ok(WaitingFor::Sleep),
        "runs" => Ok(WaitingFor::Runs(children()?.iter().map(run).collect::<Result<_, _>>()?)),
        "jobs" => Ok(WaitingFor::Jobs(children()?.into_iter().map(JobId::from_stored).collect())),
        other => Err(unexpected(format_args!("a wait for `{other}`"))),
    }
}
