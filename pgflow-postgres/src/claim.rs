//! Taking tasks.

use std::time::Duration;

use pgflow_machine::{Retry, RunId, Settle, TaskKey, TaskLease, Verdict, WorkerId};
use serde_json::Value;
use sqlx::Row;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use super::engine::{Lane, Statement};
use super::error::{is_about, translate};
use super::open::Postgres;
use pgflow_backend::backend::{BackendError, Claim, Claimed, ClaimedTask, Swept};

/// What a lease lasts longer than its step's timeout, as SQL takes it.
#[expect(clippy::cast_possible_truncation, reason = "it is a few seconds")]
pub(super) const GRACE: i32 = pgflow_machine::GRACE.as_secs() as i32;

/// A task that was claimed.
pub enum Handout {
    Task(ClaimedTask),
    /// Its input is JSON for the database and not for us: a number that fits nothing, written with SQL.
    Unreadable(Settle),
}

/// What a worker has room for, as parameters.
pub(super) struct Room<'a> {
    queues: Vec<&'a str>,
    max: i32,
    worker: Option<Uuid>,
    /// Quotas as three columns; nothing rather than empty, which is cheaper.
    flows: Option<Vec<&'a str>>,
    steps: Option<Vec<&'a str>>,
    quotas: Option<Vec<i32>>,
}

impl<'a> Room<'a> {
    pub(super) const NONE: Self =
        Room { queues: Vec::new(), max: 0, worker: None, flows: None, steps: None, quotas: None };

    pub(super) fn of(claim: &'a Claim) -> Self {
        let has_quotas = claim.quotas().next().is_some();
        Room {
            queues: claim.queues().collect(),
            max: int(claim.max),
            worker: Some(claim.worker.0),
            flows: has_quotas.then(|| claim.quotas().map(|(flow, _)| flow).collect()),
            steps: has_quotas.then(|| claim.quotas().map(|(_, quota)| &*quota.step).collect()),
            quotas: has_quotas.then(|| claim.quotas().map(|(_, quota)| int(quota.max)).collect()),
        }
    }

    /// Of a trip that also wants jobs: its room, and the queues if it wants tasks.
    pub(super) fn of_trip(queues: Option<&'a Claim>, max: u32, worker: WorkerId) -> Self {
        let room = queues.map_or(Room::NONE, Room::of);
        Room { max: int(max), worker: Some(worker.0), ..room }
    }

    pub(super) fn bind<'q>(&'q self, statement: Statement<'q>) -> Statement<'q> {
        statement
            .bind(&self.queues)
            .bind(self.max)
            .bind(self.worker)
            .bind(&self.flows)
            .bind(&self.steps)
            .bind(&self.quotas)
    }
}

/// Whether there is anything to ask for.
pub(super) fn is_some(claim: &Claim) -> bool {
    claim.max > 0 && claim.queues().next().is_some()
}

/// The database counts with signs.
pub(super) fn int(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// Also says when the next wait is due, if there were not enough.
const CLAIM: &str = "
  with claimed as materialized (select * from pgflow.claim_tasks($1, $2, $3, $4, $5, $6)),
       next as materialized (select pgflow.next_wait($1) as next_in where (select count(*) from claimed) < $2)
  select c.flow_slug, c.run_id, c.step_slug, c.task_index, c.attempt, c.input, c.timeout, n.next_in,
         current_setting('pgflow.wakes', true) as wakes
    from (select) o left join claimed c on true left join next n on true";

const SWEEP_AND_CLAIM: &str = "
  select requeued, flow_slug, run_id, step_slug, task_index, attempt, input, timeout,
         case when requeued is not null and pgflow.needs_waking() then 'on' end as wakes
    from pgflow.sweep_and_claim($7, $1, $2, $3, $4, $5, $6)";

impl Postgres {
    pub(super) async fn claim_tasks(&self, claim: &Claim) -> Result<Claimed, BackendError> {
        if !is_some(claim) {
            return Ok(Claimed::default());
        }
        let room = Room::of(claim);
        let rows = self
            .as_worker(Some(claim), || room.bind(sqlx::query(CLAIM)))
            .await
            .map_err(translate)?;
        let next = rows.first().map(|row| row.try_get::<Option<f64>, _>("next_in"));
        let next = next.transpose().map_err(translate)?.flatten();
        let next = next.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        self.wake_after(&rows).await;
        let is_task =
            |row: &&PgRow| row.try_get::<Option<Uuid>, _>("run_id").is_ok_and(|run| run.is_some());
        let tasks = self.hand_on(self.read_tasks(rows.iter().filter(is_task))?).await?;
        Ok(Claimed::of_tasks(tasks, next))
    }

    pub(super) async fn sweep_and_claim_tasks(
        &self,
        claim: &Claim,
    ) -> Result<(Swept, Claimed), BackendError> {
        if !is_some(claim) {
            return Ok((self.sweep_tasks().await?, Claimed::default()));
        }
        let room = Room::of(claim);
        let statement = || room.bind(sqlx::query(SWEEP_AND_CLAIM)).bind(GRACE);
        let rows = self.as_worker(Some(claim), statement).await.map_err(translate)?;
        let (swept, tasks) = self.swept(&rows)?;
        self.wake_after(&rows).await;
        let tasks = self.hand_on(self.read_tasks(tasks)?).await?;
        Ok((swept, Claimed::of_tasks(tasks, None)))
    }

    /// Runs a statement that claims, as a worker that the database knows.
    pub(super) async fn as_worker<'q>(
        &self,
        claim: Option<&Claim>,
        statement: impl Fn() -> Statement<'q> + Send + Sync,
    ) -> Result<Vec<PgRow>, sqlx::Error> {
        let Some(claim) = claim else { return self.engine.ask(Lane::Worker, statement).await };
        self.register(claim).await?;
        match self.engine.ask(Lane::Worker, &statement).await {
            Err(error) if is_about(&error, "step_tasks_last_worker_id_fkey") => {
                self.workers.deleted(claim.worker);
                self.register(claim).await?;
                self.engine.ask(Lane::Worker, statement).await
            }
            answer => answer,
        }
    }

    fn read_tasks<'a>(
        &self,
        rows: impl IntoIterator<Item = &'a PgRow>,
    ) -> Result<Vec<Handout>, BackendError> {
        let tasks = rows.into_iter().map(|row| self.read_task(row));
        tasks.collect::<Result<_, _>>().map_err(translate)
    }

    /// A row of `claim_tasks` or `settle_and_claim`.
    pub(super) fn read_task(&self, row: &PgRow) -> Result<Handout, sqlx::Error> {
        let flow: String = row.try_get("flow_slug")?;
        let run = RunId(row.try_get("run_id")?);
        self.flows_of_runs.learn(run, &flow);
        let index: i32 = row.try_get("task_index")?;
        let attempt: i32 = row.try_get("attempt")?;
        let task = TaskKey { run, step: row.try_get("step_slug")?, index: index.unsigned_abs() };
        let lease = TaskLease { task, attempt: attempt.unsigned_abs() };
        let timeout: i32 = row.try_get("timeout")?;
        let input = match row.try_get::<Option<Value>, _>("input") {
            // An element that is null in SQL does not exist, but nothing breaks if it did.
            Ok(input) => input.unwrap_or_default(),
            Err(sqlx::Error::ColumnDecode { source, .. }) => {
                let error = format!("cannot read the input: {source}");
                let verdict = Verdict::Failed { error, retry: Retry::Never };
                return Ok(Handout::Unreadable(Settle { lease: lease.into(), verdict }));
            }
            Err(error) => return Err(error),
        };
        let timeout = Duration::from_secs(timeout.unsigned_abs().into());
        Ok(Handout::Task(ClaimedTask { lease, flow, input, timeout }))
    }

    /// The tasks that were claimed, whole, and without those that nobody here can read: they are failed.
    pub(super) async fn hand_on(
        &self,
        rows: Vec<Handout>,
    ) -> Result<Vec<ClaimedTask>, BackendError> {
        let (mut tasks, mut unreadable) = (Vec::new(), Vec::new());
        for row in rows {
            match row {
                Handout::Task(mut task) => {
                    self.fill_in(&task.lease.task, &mut task.input).await?;
                    tasks.push(task);
                }
                Handout::Unreadable(settle) => unreadable.push(settle),
            }
        }
        if !unreadable.is_empty()
            && let Err(error) = self.settle_unreadable(&unreadable).await
        {
            // Their leases end: they come again.
            tracing::warn!(%error, tasks = unreadable.len(), "tasks with unreadable input are still held");
        }
        Ok(tasks)
    }
}
