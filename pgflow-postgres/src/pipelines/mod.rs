//! Pipelines in Postgres. What claims take is decided by the machine, as everywhere; here, permits and messages are kept by functions of
//! the SQL core, and jobs by those of jobs.

mod look;
mod permits;
mod push_in;
mod session;
mod tasks;
mod transaction;
mod work;

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::job::{JobHold, JobSettled};
use pgflow_machine::permit::MessageSettle;
use pgflow_machine::{Claim, Limits, TaskLease};

use self::session::{Connected, PostgresSession};
use super::claim::Handout;
use super::engine::Lane;
use super::error::{code, is_passing, translate};
use super::open::Postgres;
use pgflow_backend::backend::{BackendError, Claimed, SqlError, StageClaim};
use pgflow_backend::backoff::jittered;
use pgflow_backend::store::{Access, Cursors, Front, Queues, Ready, Stored};
use pgflow_backend::tx::StepTx;

pub use push_in::push_in;

/// How often a transition is done that loses against others.
const TRIES: u32 = 5;

impl Queues for Postgres {
    type Session = PostgresSession<Connected>;
    type Tasks = Vec<Handout>;

    async fn limits(&self) -> Stored<Limits> {
        self.job_limits().await
    }

    async fn begin(&self, access: Access) -> Stored<Self::Session> {
        match access {
            Access::Read => Ok(PostgresSession::reading(Arc::clone(&self.engine))),
            Access::Write | Access::Step => self.open_session(Lane::Worker).await,
        }
    }

    async fn begin_for_client(&self) -> Stored<Self::Session> {
        self.open_session(Lane::Client).await
    }

    async fn commit(&self, session: Self::Session) -> Stored<()> {
        session.commit().await
    }

    fn cursors(&self) -> &Cursors {
        &self.cursors
    }

    /// Its connection can be used again.
    async fn undo(&self, session: Self::Session) -> Stored<()> {
        session.undo().await
    }

    fn pause_before_retry(&self, error: &BackendError, tries: u32) -> Option<Duration> {
        let said = match error {
            BackendError::Unavailable(source)
            | BackendError::Unstorable(source)
            | BackendError::Refused(source) => source.downcast_ref::<SqlError>()?,
            _ => return None,
        };
        // A limit is not what it was: with the new one, what is too large is refused by itself.
        let is_limit = code(said.sqlx()).as_deref() == Some("54000") && tries == 1;
        if is_limit {
            self.forget_job_limits();
        }
        let again = is_limit || (tries < TRIES && is_passing(said.sqlx()));
        again.then(|| jittered(Duration::from_millis(10) * tries))
    }

    /// A claim finds out.
    async fn no_tasks_yet(&self, claim: &Claim) -> Stored<Option<Option<Duration>>> {
        // A worker that the database does not know can claim nothing, and it is written in a transaction of its own.
        self.register(claim).await.map_err(translate)?;
        Ok(None)
    }

    async fn take_tasks(
        &self,
        session: &mut Self::Session,
        claim: &Claim,
    ) -> Stored<(Vec<TaskLease>, Vec<Handout>)> {
        self.take_in(session, claim).await
    }

    async fn hand_on_tasks(&self, tasks: Vec<Handout>) -> Stored<Claimed> {
        Ok(Claimed::of_tasks(self.hand_on(tasks).await?, None))
    }

    async fn take_front(&self, claim: &StageClaim) -> Stored<Front> {
        PostgresSession::reading(Arc::clone(&self.engine)).take_front(claim).await
    }

    /// A look does that, as every claim of jobs does.
    async fn catch_up(&self, _need: &str) -> Stored<()> {
        Ok(())
    }

    async fn begin_attempt(&self, holds: &[JobHold]) -> Stored<Option<StepTx>> {
        self.begin_holding(holds).await
    }

    async fn commit_attempt(
        &self,
        tx: StepTx,
        settles: &[MessageSettle],
        by: &str,
    ) -> Stored<Vec<JobSettled>> {
        self.commit_messages_in(tx, settles, by).await
    }

    async fn tell(&self, ready: Ready) {
        self.ring_for_needs(&ready.needs);
        self.ring_for_permits(&ready.permits);
        if ready.waits {
            self.wake_later(Lane::Worker).await;
        }
    }
}

impl Postgres {
    async fn open_session(&self, lane: Lane) -> Stored<PostgresSession<Connected>> {
        let open = self.engine.begin(lane).await.map_err(translate)?;
        Ok(PostgresSession::writing(Arc::clone(&self.engine), open))
    }
}
