//! Steps that share a transaction with the record of their completion.

use std::pin::Pin;

use pgflow_machine::job::{JobProblem, NewJob, Submitted};
use pgflow_machine::permit::Message;
use pgflow_machine::wait::{Signal, Signalled};
use pgflow_machine::{Lease, Settle, Settled, Until, Verdict};
use sqlx::{PgConnection, Row, Transaction};

use super::batch::Completions;
use super::claim::int;
use super::ended::ended;
use super::engine::Statement;
use super::error::{not_committed, not_recorded, translate};
use super::jobs::submit_in;
use super::open::Postgres;
use super::pipelines::push_in;
use super::settle::outcome;
use super::shared;
use super::start::start_in;
use super::waits::{WaitColumns, signal_in};
use pgflow_backend::backend::{BackendError, NewRun, Reply, Started};
use pgflow_backend::sql::undone;
use pgflow_backend::tx::{StepTransaction, StepTx};

// The moment a transaction began at tells it from all others of its session.
const HOLDS: &str = "
  select pgflow.holds_task($1, $2, $3, $4), (extract(epoch from now()) * 1000000)::int8";
const COMPLETE: &str = "
  select c.outcome, e.flow_slug, c.run_id, e.status, to_jsonb(e.error) as error, current_setting('pgflow.wakes', true) as wakes
    from pgflow.complete_tasks($1, $2, $3, $4, $5) c
    left join lateral pgflow.ended_runs(array[c.run_id]) e on true
   where (extract(epoch from now()) * 1000000)::int8 = $6";

const WAIT: &str = "
  select w.outcome, e.flow_slug, w.run_id, e.status, to_jsonb(e.error) as error, current_setting('pgflow.wakes', true) as wakes
    from pgflow.wait_tasks($1, $2, $3, $4, $5) w
    left join lateral pgflow.ended_runs(array[w.run_id]) e on true
   where (extract(epoch from now()) * 1000000)::int8 = $6";

/// A transaction in the hands of a step.
#[derive(Debug)]
pub struct PostgresTx {
    pub(super) transaction: Transaction<'static, sqlx::Postgres>,
    /// The moment it began at, by which it is known again.
    pub(super) began: i64,
}

impl PostgresTx {
    /// What the step speaks to the database through.
    pub fn connection(&mut self) -> &mut PgConnection {
        &mut self.transaction
    }
}

impl StepTransaction for PostgresTx {
    fn start_run(&mut self, run: NewRun) -> Reply<'_, Started> {
        start_in(&mut self.transaction, run)
    }

    fn submit_job<'a>(
        &'a mut self,
        job: &'a NewJob,
        by: &'a str,
    ) -> Reply<'a, Result<Submitted, JobProblem>> {
        submit_in(&mut self.transaction, job, by)
    }

    fn push<'a>(
        &'a mut self,
        message: &'a Message,
        by: &'a str,
    ) -> Reply<'a, Result<Submitted, JobProblem>> {
        push_in(&mut self.transaction, message, by)
    }

    fn signal<'a>(&'a mut self, signal: &'a Signal) -> Reply<'a, Signalled> {
        signal_in(&mut self.transaction, signal)
    }

    fn rollback(self: Box<Self>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async { undone(self.transaction.rollback().await) })
    }
}

impl Postgres {
    /// The fence counts when the step is recorded; looking now saves work that would be undone.
    pub(super) async fn begin_step(&self, lease: &Lease) -> Result<Option<StepTx>, BackendError> {
        let Some(lease) = lease.task() else { return Ok(None) };
        let is_pooled = self.engine.is_pooled();
        let begin = if is_pooled { shared::BEGIN } else { "begin" };
        let mut transaction = self.steps.begin_with(begin).await.map_err(translate)?;
        let statement = sqlx::query_as(HOLDS)
            .bind(lease.task.run.0)
            .bind(&lease.task.step)
            .bind(int(lease.task.index))
            .bind(int(lease.attempt))
            .persistent(!is_pooled);
        let holds = statement.fetch_one(&mut *transaction);
        let holds = self.engine.in_time("a look", holds).await.map_err(translate)?;
        let (holds, since): (bool, i64) = holds;
        Ok(holds.then(|| -> StepTx { Box::new(PostgresTx { transaction, began: since }) }))
    }

    /// What was not recorded is undone: a transaction that is dropped rolls back.
    pub(super) async fn commit_step(
        &self,
        tx: StepTx,
        settle: &Settle,
    ) -> Result<Settled, BackendError> {
        let Some(PostgresTx { transaction, began }) = tx.downcast() else {
            return Err(BackendError::Unsupported {
                backend: "postgres",
                what: "commit a transaction of another database",
            });
        };
        let (mut completion, mut waits) = (Completions::default(), WaitColumns::default());
        let statement = match (settle.lease.task(), &settle.verdict) {
            (Some(lease), Verdict::Completed(output)) => {
                completion.push(lease, output);
                completion.bind(sqlx::query(COMPLETE))
            }
            (Some(lease), Verdict::Yielded { until: Until::Met(wait), .. })
                if waits.push(lease, wait).is_ok() =>
            {
                waits.bind(sqlx::query(WAIT))
            }
            _ => {
                drop(transaction);
                let work = self.settle_tasks(std::slice::from_ref(settle), None).await?;
                return Ok(work.settled[0]);
            }
        };
        let settled = self.record(transaction, statement.bind(began)).await?;
        self.ring_for(std::slice::from_ref(settle), &[settled]);
        Ok(settled)
    }

    /// Records the step in the transaction that the statement knows, and commits if that took effect.
    async fn record(
        &self,
        mut transaction: Transaction<'static, sqlx::Postgres>,
        statement: Statement<'_>,
    ) -> Result<Settled, BackendError> {
        let is_pooled = self.engine.is_pooled();
        // The pool may be the application's, with a memory for statements.
        let statement = statement.persistent(!is_pooled);
        let recorded = statement.fetch_optional(&mut *transaction);
        let row = self.engine.in_time("recording a step", recorded).await.map_err(not_recorded)?;
        let row = row.ok_or(BackendError::TransactionEnded)?;
        let settled = outcome(row.try_get("outcome").map_err(translate)?)?;
        if settled != Settled::Applied {
            self.engine.in_time("undoing", transaction.rollback()).await.map_err(translate)?;
            return Ok(settled);
        }
        if is_pooled {
            shared::forget(&mut transaction).await.map_err(translate)?;
        }
        self.engine.in_time("a commit", transaction.commit()).await.map_err(not_committed)?;
        if row.try_get::<Option<&str>, _>("status").map_err(translate)?.is_some() {
            ended(&row, "status", "error")?.announce();
        }
        self.wake_after(std::slice::from_ref(&row)).await;
        Ok(settled)
    }
}
