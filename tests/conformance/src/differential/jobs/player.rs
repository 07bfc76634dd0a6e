//! Plays commands on a database, and says what it answers in words that do not depend on the database.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::job::{
    HandOver, JobClaim, JobEnd, JobHold, JobId, JobRetry, JobSettle, JobToken, JobVerdict, Moment,
    NewJob, TraceKind, Unheld, Wait,
};
use pgflow_machine::{
    Claim, Lease, NewRun, RunId, Settle, Source, Verdict as TaskVerdict, Want, WorkerId,
};
use pgflow_model::FlowShape;
use pgflow_runtime::backend::{Backend, BackendError, ClaimedJob, FlowVersion, Jobs, Trip};
use serde_json::json;
use uuid::Uuid;

use super::command::{Command, Draft, Hold, JOBS, On, Onward, RUNS, Verdict};
use crate::differential::blind::Plays;
use crate::kit::single;
use crate::subject::Database;

/// The flow of runs that jobs wait for.
const WAITED: &str = "waited";

/// How long leases last.
const LEASE: Duration = Duration::from_secs(4_000);

pub(super) struct Player<'d> {
    database: &'d dyn Database,
    backend: Arc<dyn Backend>,
    prefix: String,
    /// Tokens of each job's claims, the oldest first.
    tokens: HashMap<JobId, Vec<JobToken>>,
    /// Started or not.
    runs: [RunId; RUNS],
    /// Whether the trace has to have the same details, and callers also of what time does: they are for people.
    with_details: bool,
}

/// What a caller does, not time or another job.
const CALLED: &[TraceKind] = &[
    TraceKind::Submitted,
    TraceKind::Claimed,
    TraceKind::HandedOver,
    TraceKind::Released,
    TraceKind::CancelAsked,
    TraceKind::Cleared,
    TraceKind::Redriven,
];

/// Of what all databases tell the same: who wanted it, and why.
const TOLD: &[TraceKind] = &[TraceKind::CancelAsked, TraceKind::Cancelled];

impl Plays<Command> for Player<'_> {
    async fn play(&mut self, command: &Command) -> String {
        let played = self.try_play(command).await;
        let mut text = played.unwrap_or_else(|error| format!("error: {error}"));
        for (number, run) in self.runs.iter().enumerate() {
            text = text.replace(&run.to_string(), &format!("run {number}"));
        }
        text.replace(&self.prefix, "")
    }

    /// Ends all jobs, or the sweeps of the next sequence would meet them.
    async fn end(&self) {
        self.database.advance_jobs(&self.prefix, LEASE * 2).await;
        let all: Vec<_> = (0..JOBS).collect();
        self.jobs().cancel_jobs(&self.ids(&all), "me", None).await.expect("jobs can be cancelled");
        for run in self.runs {
            // Those that were not started are unknown.
            let _ = self.backend.cancel(run, None).await;
        }
    }
}

impl<'d> Player<'d> {
    pub(super) fn new(database: &'d dyn Database, with_details: bool) -> Self {
        let (prefix, tokens) = (format!("d{}.", Uuid::now_v7().simple()), HashMap::new());
        let (backend, runs) = (database.backend(), std::array::from_fn(|_| RunId::new()));
        Self { database, backend, prefix, tokens, runs, with_details }
    }

    fn jobs(&self) -> &dyn Jobs {
        self.backend.jobs().expect("jobs")
    }

    async fn try_play(&mut self, command: &Command) -> Result<String, BackendError> {
        let jobs = self.jobs();
        Ok(match command {
            Command::Submit(drafts) => {
                let new: Vec<_> = drafts.iter().map(|draft| self.draft(draft)).collect();
                format!("{:?}", jobs.submit_jobs(&new, "client").await?)
            }
            Command::Claim { needs, max } => self.claim(needs, *max).await?,
            Command::Beat(holds) => {
                let holds: Vec<_> = holds.iter().map(|hold| self.hold(*hold)).collect();
                format!("{:?}", jobs.beat_jobs(&holds, LEASE).await?)
            }
            Command::Settle(settles) => {
                let settles: Vec<_> = settles.iter().map(|settle| self.settle(settle)).collect();
                format!("{:?}", jobs.settle_jobs(&settles, "worker").await?)
            }
            Command::Trip { settle, needs, max } => self.trip(settle, needs, *max).await?,
            Command::StartRun(run) => self.start_run(self.runs[*run]).await?,
            Command::EndRun(run, is_well) => self.end_run(self.runs[*run], *is_well).await?,
            Command::Cancel(numbers) => {
                format!("{:?}", jobs.cancel_jobs(&self.ids(numbers), "me", Some("why")).await?)
            }
            Command::Clear(numbers) => {
                format!("{:?}", jobs.clear_concern(&self.ids(numbers), "me").await?)
            }
            Command::Complete(job) => {
                let act = Unheld::Complete(json!("by hand"));
                format!("{:?}", jobs.operate(&self.id(*job), "me", &act).await?)
            }
            Command::Reschedule(job, onward) => {
                let act = Unheld::Reschedule(self.onward(onward));
                format!("{:?}", jobs.operate(&self.id(*job), "me", &act).await?)
            }
            Command::Redrive(numbers) => {
                let spacing = Duration::from_secs(1_000);
                format!("{:?}", jobs.redrive_jobs(&self.ids(numbers), "me", spacing).await?)
            }
            Command::Advance(seconds) => {
                self.database.advance_jobs(&self.prefix, Duration::from_secs(*seconds)).await;
                String::new()
            }
            Command::Sweep => format!("{:?}", jobs.sweep_jobs().await?),
            Command::Look => self.look().await?,
        })
    }

    async fn claim(&mut self, needs: &[usize], max: u32) -> Result<String, BackendError> {
        let needs = needs.iter().map(|need| self.need(*need)).collect();
        let claim = JobClaim { worker: "worker".into(), needs, lease: LEASE, max };
        let claimed = self.jobs().claim_jobs(&claim).await?.jobs;
        Ok(self.remember(claimed))
    }

    /// Says what was claimed, and keeps the tokens.
    fn remember(&mut self, claimed: Vec<ClaimedJob>) -> String {
        let mut names = Vec::new();
        for job in claimed {
            let JobHold { job: id, token } = job.taken.hold;
            names.push(format!("{id} {} {}", job.taken.row.attempts, job.payload));
            self.tokens.entry(id).or_default().push(token);
        }
        format!("{names:?}")
    }

    async fn trip(
        &mut self,
        settle: &(Hold, Verdict, Vec<Draft>),
        needs: &[usize],
        max: u32,
    ) -> Result<String, BackendError> {
        let want = |need: &usize| Want {
            lease: Some(LEASE),
            ..Want::from(Source::Need(self.need(*need)))
        };
        let worker = WorkerId(Uuid::nil());
        let next = Claim { wants: needs.iter().map(want).collect(), max, worker };
        let JobSettle { hold, verdict, submits } = self.settle(settle);
        let lease = Lease::Job { hold, lasts: LEASE };
        let end = TaskVerdict::Job(Box::new(JobEnd { verdict, submits }));
        let settles = [Settle { lease, verdict: end }];
        let trip = Trip { worker, settles: &settles, next: Some(&next), turn: 0 };
        let work = self.jobs().settle_and_claim(&trip).await?;
        let claimed = work.claimed.jobs.into_iter().map(|(job, _)| job).collect();
        Ok(format!("{:?} {}", work.settled, self.remember(claimed)))
    }

    async fn start_run(&self, run: RunId) -> Result<String, BackendError> {
        let slug = WAITED.to_owned();
        let steps = vec![single("a")];
        let shape = FlowShape { steps, ..FlowShape::new(WAITED) };
        let version = FlowVersion { flow: slug.clone(), version: 1, slug, shape };
        self.backend.ensure_flow(&version).await?;
        self.backend.start(NewRun::new(WAITED, json!({}), run)).await?;
        Ok(String::new())
    }

    async fn end_run(&self, run: RunId, is_well: bool) -> Result<String, BackendError> {
        if !is_well {
            // One that was not started is unknown.
            let _ = self.backend.cancel(run, None).await;
            return Ok(String::new());
        }
        let claim = Claim::of_queues([WAITED], 9, WorkerId(Uuid::nil()));
        for task in self.backend.claim(&claim).await?.tasks {
            let is_meant = task.lease.task.run == run;
            let verdict =
                if is_meant { TaskVerdict::Completed(json!(1)) } else { TaskVerdict::Released };
            let settles = [Settle { lease: task.lease.into(), verdict }];
            self.backend.settle(&settles, None).await?;
        }
        Ok(String::new())
    }

    /// All that people can see of all jobs.
    async fn look(&self) -> Result<String, BackendError> {
        let mut text = String::new();
        for number in 0..JOBS {
            let id = self.id(number);
            let Some(record) = self.jobs().job(&id).await? else { continue };
            let (summary, row) = (&record.summary, &record.summary.row);
            let counts = (row.attempts, row.forgiven, row.failures, row.lapses, row.streak);
            let cancel = row.cancel.as_ref().map(|asked| (&asked.by, &asked.reason));
            // What a job still waited for when it ended is history.
            let waits = if summary.ended_at.is_none() { row.waits } else { 0 };
            let facts = (&row.need, row.priority, &row.key, waits, row.max_attempts);
            let _ = write!(
                text,
                "\n{number} {} {facts:?} {counts:?} {cancel:?} {:?} {} {:?} {:?}",
                summary.standing, summary.error, record.payload, record.output, record.waits_for
            );
            for event in self.jobs().job_trace(&id, 0, 1_000).await? {
                let is_called = self.with_details || CALLED.contains(&event.kind);
                let by = event.by.filter(|_| is_called);
                let is_told = self.with_details || TOLD.contains(&event.kind);
                let detail = event.detail.filter(|_| is_told);
                let _ = write!(text, " {}({by:?},{detail:?})", event.kind);
            }
        }
        Ok(text)
    }

    fn id(&self, number: usize) -> JobId {
        format!("{}j{number}", self.prefix).parse().expect("a name")
    }

    fn ids(&self, numbers: &[usize]) -> Vec<JobId> {
        numbers.iter().map(|number| self.id(*number)).collect()
    }

    fn need(&self, number: usize) -> String {
        format!("{}n{number}", self.prefix)
    }

    fn waits(&self, onward: &Onward) -> Vec<Wait> {
        let wait = |(on, policy): &(On, _)| match on {
            On::Job(job) => Wait::job(self.id(*job)).or(*policy),
            On::Run(run) => Wait::run(self.runs[*run]).or(*policy),
        };
        onward.after.iter().map(wait).collect()
    }

    fn draft(&self, draft: &Draft) -> NewJob {
        NewJob {
            priority: draft.priority,
            key: draft.key.map(|key| format!("{}k{key}", self.prefix)),
            after: self.waits(&draft.onward),
            wake: draft.onward.wake.map(seconds),
            expires: draft.expires.map(seconds),
            max_attempts: draft.onward.max_attempts,
            ..NewJob::new(self.id(draft.job), self.need(draft.onward.need), draft.job)
        }
    }

    fn onward(&self, onward: &Onward) -> HandOver {
        HandOver {
            after: self.waits(onward),
            payload: onward.max_attempts.map(|max| json!(max)),
            wake: onward.wake.map(seconds),
            max_attempts: onward.max_attempts,
            ..HandOver::to(self.need(onward.need))
        }
    }

    fn hold(&self, hold: Hold) -> JobHold {
        let job = self.id(hold.job);
        let tokens = self.tokens.get(&job).map_or(&[][..], Vec::as_slice);
        let token = tokens.iter().rev().nth(hold.ago).cloned();
        // A token that there never was.
        JobHold { token: token.unwrap_or_else(|| JobToken(Uuid::nil().to_string())), job }
    }

    fn settle(&self, (hold, verdict, forks): &(Hold, Verdict, Vec<Draft>)) -> JobSettle {
        let verdict = match verdict {
            Verdict::Finish => JobVerdict::Finished(json!(hold.job)),
            Verdict::Fail(delay) => {
                let after = |delay: &u64| JobRetry::After(Duration::from_secs(*delay));
                let retry = delay.as_ref().map_or(JobRetry::Never, after);
                JobVerdict::Failed { error: "no".into(), retry }
            }
            Verdict::HandOver(onward) => JobVerdict::HandedOver(self.onward(onward)),
            Verdict::Release => JobVerdict::Released,
        };
        let submits = forks.iter().map(|draft| self.draft(draft)).collect();
        JobSettle { hold: self.hold(*hold), verdict, submits }
    }
}

fn seconds(seconds: u64) -> Moment {
    Moment::In(Duration::from_secs(seconds))
}
