//! Jobs in a simulation.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::job::{JobClaim, JobRetry, JobSettle, JobSettled, JobVerdict, NewJob};
use pgflow_machine::{Lease, Settled};
use serde::de::DeserializeOwned;

use super::drive::{Worker, end, expect};
use super::faults::Fault;
use super::{Crash, Sim, SimError, StepKey, database};
use crate::backend::{ClaimedJob, Jobs};
use crate::check::{PayloadOf, WorksOn};
use crate::client::JobHandle;
use crate::job::{Job, Need};
use crate::job_handler::Attempt;
use crate::testing::block_on;
use crate::tx::{Tx, TxSlot};
use crate::worker::{LEASE, Signals};

/// Faults of needs stand beside those of steps; no flow is called this.
fn key_of<N: Need>() -> StepKey {
    ("job:", N::DEF.name)
}

impl Sim {
    /// The same simulation with one more kind of job.
    ///
    /// ```
    /// use pgflow::prelude::*;
    /// use pgflow::testing::{Crash, Sim};
    /// use std::time::Duration;
    ///
    /// #[job]
    /// mod album {
    ///     use super::*;
    ///
    ///     #[need]
    ///     pub async fn split(job: Vec<String>, ctx: JobContext) -> Result<Next> {
    ///         let scans = ctx.submit_all::<scan>(job)?;
    ///         Ok(Next::to::<bind>(scans.len()).after(scans))
    ///     }
    ///
    ///     #[need(max_attempts = 3, base_delay = 5)]
    ///     pub async fn scan(job: String) -> Result<Next> {
    ///         Ok(Next::done(job.len()))
    ///     }
    ///
    ///     #[need]
    ///     pub async fn bind(job: usize) -> Result<Next> {
    ///         Ok(Next::done(format!("{job} pages")))
    ///     }
    /// }
    ///
    /// # fn main() -> std::result::Result<(), pgflow::testing::SimError> {
    /// let mut sim = Sim::new().job(album::Job);
    /// let job = sim.submit::<album::split>(&vec!["a".into(), "b".into()])?;
    /// sim.fail_need::<album::scan>(1, "no light");
    /// sim.crash_need::<album::bind>(Crash::BeforeSettle, 1);
    /// sim.run_until_idle();
    ///
    /// assert_eq!(sim.job_output::<String>(&job)?, "2 pages");
    /// assert_eq!(
    ///     sim.job_log(&job),
    ///     ["submitted", "claimed", "handed_over", "unblocked", "claimed", "lapsed", "claimed", "finished"]
    /// );
    /// assert_eq!((sim.need_calls::<album::scan>(), sim.need_calls::<album::bind>()), (2, 2));
    /// // The retry waited for 5 s, and the dead worker was waited for.
    /// assert!(sim.elapsed() > Duration::from_secs(5 + 59));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn job<J>(mut self, _job: J) -> Self where Self: WorksOn<J> {
        self.jobs = std::mem::take(&mut self.jobs).with::<<Self as WorksOn<J>>::Job>();
        self
    }

    /// Submits a job, under an id that is the same each time the test runs. For one with options, or with a need that others
    /// define, ask [`db`](Self::db).
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn submit<N: Need>(&mut self, payload: impl PayloadOf<N::Payload>) -> Result<JobHandle, SimError> {
        self.runs += 1;
        let id = format!("job {} of a test", self.runs);
        Ok(block_on(self.db.submit::<N>(payload).id(id).into_future())?)
    }

    /// What a job put out that is done.
    pub fn job_output<T: DeserializeOwned + 'static>(
        &self,
        job: &JobHandle,
    ) -> Result<T, SimError> {
        if block_on(job.record())?.summary.ended_at.is_none() {
            return Err(SimError::JobNotEnded { job: job.id().clone() });
        }
        Ok(block_on(job.output())?)
    }

    /// Where a job stands, in a word: a status such as `READY`, or how it ended, such as `done`.
    pub fn job_status(&self, job: &JobHandle) -> String {
        block_on(job.status()).map_or_else(|why| why.to_string(), |status| status.to_string())
    }

    /// What happened to a job, in a word each.
    pub fn job_log(&self, job: &JobHandle) -> Vec<&'static str> {
        let events = block_on(job.trace()).unwrap_or_default();
        events.iter().map(|event| event.kind.word()).collect()
    }

    /// Lets the next attempts at a need fail with this error, without calling its function.
    pub fn fail_need<N: Need<Job: Job>>(&mut self, times: u32, error: &str) {
        let retry = pgflow_machine::Retry::ByPolicy;
        let verdict = pgflow_machine::Verdict::Failed { error: error.to_owned(), retry };
        self.faults.add(key_of::<N>(), times, &Fault::Fails(verdict));
    }

    /// Lets the worker die at the next attempts at a need, and another take its place.
    pub fn crash_need<N: Need<Job: Job>>(&mut self, moment: Crash, times: u32) {
        self.faults.add(key_of::<N>(), times, &Fault::Crashes(moment));
    }

    /// How often the function of a need was called.
    pub fn need_calls<N: Need<Job: Job>>(&self) -> u32 {
        self.calls.get(&key_of::<N>()).copied().unwrap_or_default()
    }

    /// Does one job, if there is one to do. Says what became of the worker.
    pub(super) async fn work_on_job(&mut self) -> Option<Worker> {
        let job = self.claim_job().await?;
        let (name, code) = self.jobs.code(&job.taken.row.need)?;
        let (key, signals) = (("job:", name), Signals::default());
        let (states, backend) = (self.states.clone(), Arc::clone(self.db.backend()));
        let lease = Lease::Job { hold: job.taken.hold.clone(), lasts: LEASE };
        let (declared, excuses) = (self.jobs.declared(), Arc::default());
        let attempt = Attempt { code, job, states, declared, signals, backend, lease, excuses };
        if self.crashes.is_now() || self.faults.take_crash_after_claim(key) {
            return Some(Worker::Died);
        }
        let fault = self.faults.take(key);
        let crash = match fault {
            Some(Fault::Crashes(moment)) => Some(moment),
            _ => None,
        };
        let (settle, tx) = self.end_of_job(&attempt, key, fault).await;
        Some(self.settle_job(&attempt, settle, crash, tx).await)
    }

    async fn claim_job(&mut self) -> Option<ClaimedJob> {
        let needs = self.jobs.names();
        if needs.is_empty() {
            return None;
        }
        expect(self.memory.sweep_jobs().await);
        // One need after another has its turn by place; each knows its lease.
        let mut next = None;
        for need in needs {
            let lease = self.jobs.code(need).and_then(|(_, code)| code.lease()).unwrap_or(LEASE);
            let (worker, needs) = (self.worker.0.to_string(), vec![need.to_owned()]);
            let claim = JobClaim { worker, needs, lease, max: 1 };
            let mut claimed = expect(self.memory.claim_jobs(&claim).await);
            if let Some(job) = claimed.jobs.pop() {
                return Some(job);
            }
            let due = claimed.next_in.map(|next_in: Duration| self.memory.now() + next_in);
            next = [next, due].into_iter().flatten().min();
        }
        self.next_job = next;
        None
    }

    async fn end_of_job(
        &mut self,
        attempt: &Attempt,
        key: StepKey,
        fault: Option<Fault>,
    ) -> (JobSettle, Option<Tx>) {
        let hold = attempt.job.taken.hold.clone();
        if let Some(Fault::Fails(pgflow_machine::Verdict::Failed { error, .. })) = fault {
            let verdict = JobVerdict::Failed { error, retry: attempt.retry() };
            return (JobSettle::new(hold, verdict), None);
        }
        *self.calls.entry(key).or_default() += 1;
        let tx = if attempt.code.takes_tx() { database::begin(self).await } else { None };
        let Some(tx) = tx else {
            let (verdict, submits) = attempt.call(None).await;
            return (JobSettle { hold, verdict, submits }, None);
        };
        let (scope, slot) = (tx.scope(), TxSlot::holding(tx));
        let (verdict, submits) = scope.around(attempt.call(Some(slot.clone()))).await;
        (JobSettle { hold, verdict, submits }, slot.take())
    }

    async fn settle_job(
        &mut self,
        attempt: &Attempt,
        settle: JobSettle,
        crash: Option<Crash>,
        tx: Option<Tx>,
    ) -> Worker {
        if self.crashes.is_now() || matches!(crash, Some(Crash::BeforeSettle)) {
            end(tx, None).await;
            return Worker::Died;
        }
        let is_well = matches!(settle.verdict, JobVerdict::Finished(_) | JobVerdict::HandedOver(_));
        let settled = self.record(attempt, &settle).await;
        let applied = settled == Some(JobSettled::Applied);
        end(tx, (applied && is_well).then_some(Settled::Applied)).await;
        if let Some(JobSettled::Refused(problem)) = settled {
            let error = format!("what comes next cannot be: {problem}");
            let verdict = JobVerdict::Failed { error, retry: JobRetry::Never };
            let failed = JobSettle { verdict, submits: Vec::<NewJob>::new(), ..settle };
            self.record(attempt, &failed).await;
        }
        if self.crashes.is_now() || crash == Some(Crash::AfterSettle) {
            return Worker::Died;
        }
        Worker::Lives
    }

    async fn record(&self, attempt: &Attempt, settle: &JobSettle) -> Option<JobSettled> {
        let settles = std::slice::from_ref(settle);
        expect(self.memory.settle_jobs(settles, attempt.worker()).await).into_iter().next()
    }
}
