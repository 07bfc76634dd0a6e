//! What people who look after it need.

mod checkup;

use std::time::Duration;

use pgflow_machine::{RunId, TaskStatus, Timestamp, WorkerId};
use pgflow_model::FlowShape;
use serde_json::Value;
use sqlx::Row;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use super::batch::{all_without_nul, without_nul};
use super::claim::int;
use super::engine::{Lane, Statement};
use super::error::{translate, unexpected};
use super::list::summary;
use super::open::Postgres;
use super::read::{count, count_if_known, moment, word};
use pgflow_backend::backend::{
    Activity, BackendError, Checkup, Definition, FlowRecord, Minute, QueueDepth, Reply, RunSummary,
    Sample, SchemaState, StepStatistics, StepTimes, TaskQuery, TaskRecord, Upkeep, WorkerCard,
    WorkerQuery, WorkerRecord,
};

const NOW: &str = "select (extract(epoch from clock_timestamp()) * 1000000)::bigint as now";
const FLOWS: &str = "select flow_name, version, flow_slug, is_current, steps,
       (extract(epoch from created_at) * 1000000)::bigint as created_at
  from pgflow.get_flows()";
const DEFINITION: &str = "select f.flow_name, f.version, f.flow_slug, f.is_current, f.steps,
       (extract(epoch from f.created_at) * 1000000)::bigint as created_at, d.shape, d.input_schema
  from pgflow.get_flows() f cross join pgflow.get_flow_definition(f.flow_slug) d
 where f.flow_slug = $1";
const SET_INPUT_SCHEMA: &str = "select pgflow.set_flow_input_schema($1, $2)";
const DEPTHS: &str = "select flow_slug, ready, delayed, running,
       extract(epoch from clock_timestamp() - oldest_ready_at)::float8 as oldest
  from pgflow.get_queue_depths()";
const BETWEEN: &str = "select run_id, flow_slug, status, remaining_steps,
       (extract(epoch from started_at) * 1000000)::bigint as started_at,
       (extract(epoch from ended_at) * 1000000)::bigint as ended_at
  from pgflow.get_runs_between($1, $2, $3)";
const STEP_TIMES: &str = "select step_slug,
       (extract(epoch from started_at) * 1000000)::bigint as started_at,
       (extract(epoch from ended_at) * 1000000)::bigint as ended_at
  from pgflow.get_step_times($1)";
const TASKS: &str =
    "select task_index, status, attempts, losses, worker_id, error_message, yield_reason,
       (extract(epoch from ready_at) * 1000000)::bigint as ready_at,
       (extract(epoch from started_at) * 1000000)::bigint as started_at,
       (extract(epoch from ended_at) * 1000000)::bigint as ended_at,
       (extract(epoch from lost_at) * 1000000)::bigint as lost_at
  from pgflow.list_tasks($1, $2, $3, $4, $5)";
const WORKERS: &str = "select worker_id, host, pid, queue_names, slots, running,
       (extract(epoch from started_at) * 1000000)::bigint as started_at,
       (extract(epoch from last_heartbeat_at) * 1000000)::bigint as seen_at,
       (extract(epoch from stopped_at) * 1000000)::bigint as stopped_at
  from pgflow.list_workers($1, $2, $3)";
const STATISTICS: &str = "select step_slug, completed, failed, skipped, p50, p95
  from pgflow.get_step_statistics($1, $2 * interval '1 microsecond', $3)";
const ACTIVITY: &str = "select started, completed, failed, cancelled, p50, p95,
       (extract(epoch from minute) * 1000000)::bigint as minute,
       (extract(epoch from first_at) * 1000000)::bigint as first_at,
       (extract(epoch from clock_timestamp()) * 1000000)::bigint as now
  from pgflow.get_activity($1, $2 * interval '1 microsecond', $3)";
const PRUNABLE: &str = "select pgflow.count_prunable_runs($1 * interval '1 microsecond', $2)";
const CHECK: &str =
    "select invariant || coalesce(' of run ' || run_id, '') || ': ' || detail from pgflow.check()";

impl Upkeep for Postgres {
    fn schema(&self) -> Reply<'_, SchemaState> {
        Box::pin(self.read_schema_state())
    }

    fn now(&self) -> Reply<'_, Timestamp> {
        Box::pin(async {
            let rows = self.look(|| sqlx::query(NOW)).await?;
            Ok(moment(&rows[0], "now")?.unwrap_or_default())
        })
    }

    fn flows(&self) -> Reply<'_, Vec<FlowRecord>> {
        Box::pin(async {
            let rows = self.look(|| sqlx::query(FLOWS)).await?;
            rows.iter().map(flow_record).collect()
        })
    }

    fn definition<'a>(&'a self, version: &'a str) -> Reply<'a, Option<Definition>> {
        Box::pin(async move {
            let version = without_nul(version);
            let rows = self.look(|| sqlx::query(DEFINITION).bind(&*version)).await?;
            rows.first().map(definition).transpose()
        })
    }

    fn set_input_schema<'a>(&'a self, version: &'a str, schema: &'a Value) -> Reply<'a, ()> {
        Box::pin(async move {
            let note = || sqlx::query(SET_INPUT_SCHEMA).bind(version).bind(schema);
            self.look(note).await.map(drop)
        })
    }

    fn queues(&self) -> Reply<'_, Vec<QueueDepth>> {
        Box::pin(async {
            let rows = self.look(|| sqlx::query(DEPTHS)).await?;
            rows.iter().map(depth).collect()
        })
    }

    fn between(&self, first: RunId, last: RunId, max: u32) -> Reply<'_, Vec<RunSummary>> {
        Box::pin(async move {
            let find = || sqlx::query(BETWEEN).bind(first.0).bind(last.0).bind(int(max));
            let rows = self.look(find).await?;
            rows.iter().map(summary).collect()
        })
    }

    fn step_times(&self, run: RunId) -> Reply<'_, Vec<StepTimes>> {
        Box::pin(async move {
            let rows = self.look(|| sqlx::query(STEP_TIMES).bind(run.0)).await?;
            rows.iter().map(step_times).collect()
        })
    }

    fn tasks<'a>(
        &'a self,
        run: RunId,
        step: &'a str,
        query: &'a TaskQuery,
    ) -> Reply<'a, Vec<TaskRecord>> {
        Box::pin(async move {
            let statuses: Vec<_> = query.statuses.iter().map(|status| status.word()).collect();
            let statuses = Some(&statuses).filter(|statuses| !statuses.is_empty());
            let step = without_nul(step);
            let list = || {
                let list = sqlx::query(TASKS).bind(run.0).bind(&*step).bind(statuses);
                list.bind(query.after.map(int)).bind(int(query.max))
            };
            self.look(list).await?.iter().map(task).collect()
        })
    }

    fn sign_on<'a>(&'a self, worker: &'a WorkerCard) -> Reply<'a, ()> {
        Box::pin(async move { self.register_card(worker).await.map_err(translate) })
    }

    fn workers<'a>(&'a self, query: &'a WorkerQuery) -> Reply<'a, Vec<WorkerRecord>> {
        Box::pin(async move {
            let after = query.after.map(|after| after.0);
            let list =
                || sqlx::query(WORKERS).bind(query.with_gone).bind(after).bind(int(query.max));
            self.look(list).await?.iter().map(worker).collect()
        })
    }

    fn step_statistics<'a>(
        &'a self,
        version: &'a str,
        window: Duration,
    ) -> Reply<'a, Vec<StepStatistics>> {
        Box::pin(async move {
            let most = int(Sample::RUNS_WITH_STEPS);
            let version = without_nul(version);
            let ask = || sqlx::query(STATISTICS).bind(&*version).bind(micros(window)).bind(most);
            self.look(ask).await?.iter().map(statistics).collect()
        })
    }

    fn activity<'a>(&'a self, flows: &'a [String], window: Duration) -> Reply<'a, Activity> {
        Box::pin(self.read_activity(flows, window))
    }

    fn prunable(&self, older_than: Duration, max: u64) -> Reply<'_, u64> {
        Box::pin(async move {
            let max = i64::try_from(max).unwrap_or(i64::MAX);
            let ask = || sqlx::query(PRUNABLE).bind(micros(older_than)).bind(max);
            let count: i64 = self.look(ask).await?[0].try_get(0).map_err(translate)?;
            Ok(count.unsigned_abs())
        })
    }

    fn check(&self) -> Reply<'_, Vec<String>> {
        Box::pin(self.read_violations())
    }

    fn checkup(&self) -> Reply<'_, Checkup> {
        Box::pin(self.look_at_server())
    }
}

impl Postgres {
    pub(super) async fn look<'q>(
        &self,
        statement: impl Fn() -> Statement<'q> + Send + Sync,
    ) -> Result<Vec<PgRow>, BackendError> {
        self.engine.ask(Lane::Client, statement).await.map_err(translate)
    }

    async fn read_activity(
        &self,
        flows: &[String],
        window: Duration,
    ) -> Result<Activity, BackendError> {
        let flows = Some(all_without_nul(flows)).filter(|flows| !flows.is_empty());
        let most = int(Sample::RUNS);
        let ask = || sqlx::query(ACTIVITY).bind(flows.as_deref()).bind(micros(window)).bind(most);
        let rows = self.look(ask).await?;
        let Some((whole, minutes)) = rows.split_first() else { return Err(unexpected("no row")) };
        let until = moment(whole, "now")?.unwrap_or_default();
        let asked = Timestamp::from_micros(until.micros().saturating_sub(micros(window)));
        let is_cut = number(whole, "started")? >= u64::from(Sample::RUNS);
        let first = moment(whole, "first_at")?.filter(|_| is_cut);
        Ok(Activity {
            since: first.unwrap_or(asked),
            until,
            minutes: minutes.iter().map(minute).collect::<Result<_, _>>()?,
            p50: seconds(whole, "p50")?,
            p95: seconds(whole, "p95")?,
        })
    }

    /// It reads everything, so it may take longer than a call.
    async fn read_violations(&self) -> Result<Vec<String>, BackendError> {
        let pool = self.pool()?;
        let look = async {
            let mut tx = self.begin_to_look(&pool).await?;
            let found = sqlx::query_scalar(CHECK).persistent(false).fetch_all(&mut *tx).await?;
            tx.rollback().await?;
            Ok(found)
        };
        let found: Result<_, sqlx::Error> = look.await;
        pool.close().await;
        found.map_err(translate)
    }
}

/// A thousand years: no clock of a database shows more.
fn micros(time: Duration) -> i64 {
    const LONGEST: i64 = 31_536_000_000_000_000;
    i64::try_from(time.as_micros()).unwrap_or(LONGEST).min(LONGEST)
}

fn number(row: &PgRow, column: &str) -> Result<u64, BackendError> {
    row.try_get::<i64, _>(column).map(i64::unsigned_abs).map_err(translate)
}

fn seconds(row: &PgRow, column: &str) -> Result<Option<Duration>, BackendError> {
    let seconds: Option<f64> = row.try_get(column).map_err(translate)?;
    Ok(seconds.map(|seconds| Duration::try_from_secs_f64(seconds).unwrap_or_default()))
}

fn text(row: &PgRow, column: &str) -> Result<String, BackendError> {
    row.try_get(column).map_err(translate)
}

fn flow_record(row: &PgRow) -> Result<FlowRecord, BackendError> {
    Ok(FlowRecord {
        flow: text(row, "flow_name")?,
        version: count(row, "version")?,
        slug: text(row, "flow_slug")?,
        is_current: row.try_get("is_current").map_err(translate)?,
        steps: u32::try_from(number(row, "steps")?).unwrap_or(u32::MAX),
        created_at: moment(row, "created_at")?,
    })
}

fn definition(row: &PgRow) -> Result<Definition, BackendError> {
    let record = flow_record(row)?;
    let shape: Value = row.try_get("shape").map_err(translate)?;
    let shape = FlowShape::from_json(&record.slug, &shape).map_err(unexpected)?;
    Ok(Definition { record, shape, input_schema: row.try_get("input_schema").map_err(translate)? })
}

fn depth(row: &PgRow) -> Result<QueueDepth, BackendError> {
    Ok(QueueDepth {
        slug: text(row, "flow_slug")?,
        ready: number(row, "ready")?,
        delayed: number(row, "delayed")?,
        running: number(row, "running")?,
        oldest_ready: seconds(row, "oldest")?,
    })
}

fn step_times(row: &PgRow) -> Result<StepTimes, BackendError> {
    Ok(StepTimes {
        slug: text(row, "step_slug")?,
        started_at: moment(row, "started_at")?,
        ended_at: moment(row, "ended_at")?,
    })
}

fn task(row: &PgRow) -> Result<TaskRecord, BackendError> {
    let worker: Option<Uuid> = row.try_get("worker_id").map_err(translate)?;
    Ok(TaskRecord {
        index: count(row, "task_index")?,
        status: word(row, "status", TaskStatus::from_word)?,
        attempts: count(row, "attempts")?,
        losses: count(row, "losses")?,
        worker: worker.map(WorkerId),
        error: row.try_get("error_message").map_err(translate)?,
        yielded: row.try_get("yield_reason").map_err(translate)?,
        ready_at: moment(row, "ready_at")?,
        started_at: moment(row, "started_at")?,
        ended_at: moment(row, "ended_at")?,
        lost_at: moment(row, "lost_at")?,
    })
}

fn worker(row: &PgRow) -> Result<WorkerRecord, BackendError> {
    Ok(WorkerRecord {
        id: WorkerId(row.try_get("worker_id").map_err(translate)?),
        host: row.try_get("host").map_err(translate)?,
        pid: count_if_known(row, "pid")?,
        queues: row.try_get("queue_names").map_err(translate)?,
        slots: count_if_known(row, "slots")?,
        running: u32::try_from(number(row, "running")?).unwrap_or(u32::MAX),
        started_at: moment(row, "started_at")?.unwrap_or_default(),
        seen_at: moment(row, "seen_at")?.unwrap_or_default(),
        stopped_at: moment(row, "stopped_at")?,
    })
}

fn statistics(row: &PgRow) -> Result<StepStatistics, BackendError> {
    Ok(StepStatistics {
        slug: text(row, "step_slug")?,
        completed: number(row, "completed")?,
        failed: number(row, "failed")?,
        skipped: number(row, "skipped")?,
        p50: seconds(row, "p50")?,
        p95: seconds(row, "p95")?,
    })
}

fn minute(row: &PgRow) -> Result<Minute, BackendError> {
    Ok(Minute {
        at: moment(row, "minute")?.unwrap_or_default(),
        started: number(row, "started")?,
        completed: number(row, "completed")?,
        failed: number(row, "failed")?,
        cancelled: number(row, "cancelled")?,
    })
}
