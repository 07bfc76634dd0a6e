//! The contract, kept by the functions of the SQL core.

use std::time::Duration;

use ::pgmq::PgmqError;
use pgflow_machine::{Beat, Event, Lease, Limits, RunId, Settle, Settled, WorkerId};
use serde_json::Value;
use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;

use super::engine::Lane;
use super::error::translate;
use super::migrate::{MigrateError, migrate};
use super::migrate_flows::{MigrateFlowsError, migrate_flows};
use super::open::Postgres;
use super::shared;
use pgflow_backend::backend::{
    Abilities, Backend, BackendError, Cancelled, Claim, Claimed, Definitions, Ensured, FlowVersion,
    JobUpkeep, Jobs, KnownVersion, NewRun, Parts, Pipelines, Reply, Retried, RunQuery, RunRecord,
    RunSummary, Runs, Schedules, Settlement, Source, Started, Streams, Swept, Waits, Wakes, Work,
};
use pgflow_backend::tx::StepTx;
use pgflow_model::FlowMigrations;

impl Backend for Postgres {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn abilities(&self) -> Abilities {
        Abilities { multi_process: true, transactions: true, holds_connections: true }
    }

    fn limits(&self) -> Reply<'_, Limits> {
        Box::pin(self.read_limits())
    }

    fn migrate(&self) -> Reply<'_, ()> {
        Box::pin(async {
            let pool = self.pool()?;
            let report = migrate(&pool).await.map_err(why_not_migrated);
            pool.close().await;
            report.map(drop)
        })
    }

    fn wakes(&self) -> Wakes {
        self.bell.listen()
    }

    fn job_upkeep(&self) -> Result<&dyn JobUpkeep, BackendError> {
        Ok(self)
    }

    fn jobs(&self) -> Result<&dyn Jobs, BackendError> {
        Ok(self)
    }

    fn streams(&self) -> Result<&dyn Streams, BackendError> {
        Ok(self)
    }

    fn waits(&self) -> Result<&dyn Waits, BackendError> {
        Ok(self)
    }

    fn pipelines(&self) -> Result<&dyn Pipelines, BackendError> {
        Ok(self)
    }

    fn schedules(&self) -> Result<&dyn Schedules, BackendError> {
        Ok(self)
    }

    fn close(&self) -> Reply<'_, ()> {
        Box::pin(async {
            self.sign_off_from(&self.workers.all()).await;
            self.stop.cancel();
            self.engine.close().await;
            if self.owns_steps {
                self.steps.close().await;
            }
            Ok(())
        })
    }
}

impl Definitions for Postgres {
    fn apply<'a>(&'a self, migrations: &'a FlowMigrations) -> Reply<'a, Vec<&'static str>> {
        Box::pin(async {
            let pool = self.pool()?;
            let applied = migrate_flows(&pool, migrations).await.map_err(why_not_applied);
            pool.close().await;
            applied
        })
    }

    fn ensure_flow<'a>(&'a self, version: &'a FlowVersion) -> Reply<'a, Ensured> {
        Box::pin(self.ensure(version))
    }

    fn versions<'a>(&'a self, flows: &'a [&'a str]) -> Reply<'a, Vec<KnownVersion>> {
        Box::pin(self.read_versions(flows))
    }

    fn set_interface<'a>(&'a self, version: &'a str, interface: &'a str) -> Reply<'a, ()> {
        Box::pin(self.note_interface(version, interface))
    }
}

impl Runs for Postgres {
    fn start(&self, run: NewRun) -> Reply<'_, Started> {
        Box::pin(self.start_gathered(run))
    }

    fn cancel<'a>(&'a self, run: RunId, reason: Option<&'a str>) -> Reply<'a, Cancelled> {
        Box::pin(self.cancel_run(run, reason))
    }

    fn retry(&self, run: RunId) -> Reply<'_, Retried> {
        Box::pin(self.retry_run(run))
    }

    fn run(&self, run: RunId, parts: Parts) -> Reply<'_, Option<RunRecord>> {
        Box::pin(self.read_run(run, parts))
    }

    fn statuses<'a>(&'a self, runs: &'a [RunId]) -> Reply<'a, Vec<RunSummary>> {
        Box::pin(self.read_statuses(runs))
    }

    fn input(&self, run: RunId) -> Reply<'_, Option<Value>> {
        Box::pin(self.read_input(run))
    }

    fn outputs_within<'a>(
        &'a self,
        run: RunId,
        step: &'a str,
        first: u32,
        bytes: u32,
    ) -> Reply<'a, Vec<Value>> {
        Box::pin(self.read_outputs(Lane::Client, run, step, (first, bytes)))
    }

    fn list<'a>(&'a self, query: &'a RunQuery) -> Reply<'a, Vec<RunSummary>> {
        Box::pin(self.list_runs(query))
    }

    fn events(&self, run: RunId, after: u64, max: u32) -> Reply<'_, Vec<Event>> {
        Box::pin(self.read_events(run, after, max))
    }

    fn prune(&self, older_than: Duration, max: u32) -> Reply<'_, u64> {
        Box::pin(self.prune_runs(older_than, max))
    }
}

impl Work for Postgres {
    fn claim<'a>(&'a self, claim: &'a Claim) -> Reply<'a, Claimed> {
        Box::pin(self.claim_tasks(claim))
    }

    fn settle<'a>(
        &'a self,
        settles: &'a [Settle],
        next: Option<&'a Claim>,
    ) -> Reply<'a, Settlement> {
        Box::pin(self.settle_tasks(settles, next))
    }

    fn heartbeat<'a>(&'a self, leases: &'a [Lease]) -> Reply<'a, Vec<Beat>> {
        Box::pin(self.beat(leases))
    }

    fn sweep(&self) -> Reply<'_, Swept> {
        Box::pin(self.sweep_tasks())
    }

    fn sweep_and_claim<'a>(&'a self, claim: &'a Claim) -> Reply<'a, (Swept, Claimed)> {
        Box::pin(self.sweep_and_claim_tasks(claim))
    }

    fn release_unknown<'a>(
        &'a self,
        worker: WorkerId,
        sources: &'a [Source],
        known: &'a [Lease],
    ) -> Reply<'a, u64> {
        Box::pin(self.release_unknown_tasks(worker, sources, known))
    }

    fn resume<'a>(&'a self, sources: &'a [Source]) -> Reply<'a, u64> {
        Box::pin(self.resume_tasks(sources))
    }

    fn sign_off(&self, worker: WorkerId) -> Reply<'_, ()> {
        // A worker has a runtime of its own, which ends with it, also if nobody waits for this.
        let leaving = self.workers.forget(worker).then(|| self.engine.leaving());
        Box::pin(async move {
            if leaving.is_some() {
                self.sign_off_from(&[worker.0]).await;
            }
            Ok(())
        })
    }

    fn begin<'a>(&'a self, lease: &'a Lease) -> Reply<'a, Option<StepTx>> {
        Box::pin(self.begin_step(lease))
    }

    fn commit<'a>(&'a self, tx: StepTx, settle: &'a Settle) -> Reply<'a, Settled> {
        Box::pin(self.commit_step(tx, settle))
    }
}

impl Postgres {
    /// For what may have to wait for others for longer than a call may take.
    pub(super) fn pool(&self) -> Result<PgPool, BackendError> {
        if self.stop.is_cancelled() {
            return Err(BackendError::Closed);
        }
        if self.direct_is_pooled {
            return Ok(shared::pool(2, self.direct.clone()));
        }
        Ok(PgPoolOptions::new().max_connections(2).connect_lazy_with(self.direct.clone()))
    }
}

fn why_not_applied(error: MigrateFlowsError) -> BackendError {
    match error {
        MigrateFlowsError::Database(source) => translate(source),
        other => BackendError::Refused(Box::new(other)),
    }
}

fn why_not_migrated(error: MigrateError) -> BackendError {
    match error {
        MigrateError::Database { source, .. } | MigrateError::Apply { source, .. } => {
            translate(source)
        }
        MigrateError::Pgmq(PgmqError::DatabaseError(source)) => translate(source),
        other => BackendError::Schema(other.to_string()),
    }
}
