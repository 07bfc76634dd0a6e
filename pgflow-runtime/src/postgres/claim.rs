//! Taking tasks.

use std::time::Duration;

use pgflow_machine::{Lease, RunId, TaskKey};
use serde_json::Value;
use sqlx::Row;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use super::engine::{Lane, Statement};
use super::error::{is_about, translate, unexpected};
use super::open::Postgres;
use crate::backend::{BackendError, Claim, Claimed, ClaimedTask, Swept};

/// What a lease lasts longer than its step's timeout.
pub(super) const GRACE: i32 = 2;

/// What a worker has room for, as parameters.
pub(super) struct Room<'a> {
    queues: &'a [String],
    max: i32,
    worker: Option<Uuid>,
    /// Quotas as three columns; nothing rather than empty, which is cheaper.
    flows: Option<Vec<&'a str>>,
    steps: Option<Vec<&'a str>>,
    quotas: Option<Vec<i32>>,
}

impl<'a> Room<'a> {
    pub(super) const NONE: Self =
        Room { queues: &[], max: 0, worker: None, flows: None, steps: None, quotas: None };

    pub(super) fn of(claim: &'a Claim) -> Self {
        let quotas = Some(&claim.quotas).filter(|quotas| !quotas.is_empty());
        Room {
            queues: &claim.queues,
            max: int(claim.max),
            worker: Some(claim.worker.0),
            flows: quotas.map(|all| all.iter().map(|quota| &*quota.flow).collect()),
            steps: quotas.map(|all| all.iter().map(|quota| &*quota.step).collect()),
            quotas: quotas.map(|all| all.iter().map(|quota| int(quota.max)).collect()),
        }
    }

    pub(super) fn bind<'q>(&'q self, statement: Statement<'q>) -> Statement<'q> {
        statement
            .bind(self.queues)
            .bind(self.max)
            .bind(self.worker)
            .bind(&self.flows)
            .bind(&self.steps)
            .bind(&self.quotas)
    }
}

/// Whether there is anything to ask for.
pub(super) fn is_some(claim: &Claim) -> bool {
    claim.max > 0 && !claim.queues.is_empty()
}

/// The database counts with signs.
pub(super) fn int(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

const CLAIM: &str = "select flow_slug, run_id, step_slug, task_index, attempt, input, timeout
   from pgflow.claim_tasks($1, $2, $3, $4, $5, $6)";

const SWEEP_AND_CLAIM: &str = "
  select requeued, flow_slug, run_id, step_slug, task_index, attempt, input, timeout
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
        let tasks = rows.iter().map(|row| self.task(row)).collect::<Result<_, _>>();
        Ok(Claimed { tasks: tasks.map_err(translate)?, next_in: None })
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
        let Some((swept, tasks)) = rows.split_first() else { return Err(unexpected("no row")) };
        let swept = self.swept(swept)?;
        let tasks = tasks.iter().map(|row| self.task(row)).collect::<Result<_, _>>();
        Ok((swept, Claimed { tasks: tasks.map_err(translate)?, next_in: None }))
    }

    /// Runs a statement that claims, as a worker that the database knows.
    pub(super) async fn as_worker<'q>(
        &self,
        claim: Option<&Claim>,
        statement: impl Fn() -> Statement<'q> + Send + Sync,
    ) -> Result<Vec<PgRow>, sqlx::Error> {
        let Some(claim) = claim else { return self.engine.ask(Lane::Worker, statement).await };
        self.register(claim.worker, &claim.queues).await?;
        match self.engine.ask(Lane::Worker, &statement).await {
            Err(error) if is_about(&error, "step_tasks_last_worker_id_fkey") => {
                self.workers.forget(claim.worker);
                self.register(claim.worker, &claim.queues).await?;
                self.engine.ask(Lane::Worker, statement).await
            }
            answer => answer,
        }
    }

    /// A row of `claim_tasks` or `settle_and_claim`.
    pub(super) fn task(&self, row: &PgRow) -> Result<ClaimedTask, sqlx::Error> {
        let flow: String = row.try_get("flow_slug")?;
        let run = RunId(row.try_get("run_id")?);
        self.routes.learn(run, &flow);
        let index: i32 = row.try_get("task_index")?;
        let attempt: i32 = row.try_get("attempt")?;
        let task = TaskKey { run, step: row.try_get("step_slug")?, index: index.unsigned_abs() };
        let timeout: i32 = row.try_get("timeout")?;
        Ok(ClaimedTask {
            lease: Lease { task, attempt: attempt.unsigned_abs() },
            flow,
            // An element that is null in SQL does not exist, but nothing breaks if it did.
            input: row.try_get::<Option<Value>, _>("input")?.unwrap_or_default(),
            timeout: Duration::from_secs(timeout.unsigned_abs().into()),
        })
    }
}
