//! What is shown.

use std::time::Duration;

use pgflow_runtime::backend::{
    JobRecord, JobSearch, JobStanding, JobSummary, JobsOf, NeedDepth, Parts, QueueDepth, RunQuery,
    RunRecord, RunSummary, WorkerQuery, WorkerRecord,
};
use pgflow_runtime::client::{JobWhy, Why};
use pgflow_runtime::job::{JobId, JobOutcome};
use pgflow_runtime::{Db, RunId, Timestamp};

use super::keys::Wish;
use crate::error::Error;
use crate::{cancel, job, retry};

/// Runs in the list, and live jobs.
const MANY: u32 = 200;

/// Jobs that failed, of those that ended last.
const FAILED: u32 = 25;
/// Live jobs that are counted at each look.
const COUNTED: u64 = 10_000;

/// Which list is in front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    Runs,
    Jobs,
    Queues,
    Workers,
}

/// What keys are about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Run(RunId),
    Job(JobId),
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Run(run) => run.fmt(f),
            Self::Job(job) => job.fmt(f),
        }
    }
}

/// What was asked and not answered yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Question {
    Retry(Target),
    Cancel(Target),
}

/// What is open in front of the lists.
pub(super) enum Opened {
    Run { record: RunRecord, why: Why },
    Job { record: Box<JobRecord>, why: JobWhy },
}

impl Opened {
    fn target(&self) -> Target {
        match self {
            Self::Run { why, .. } => Target::Run(why.run),
            Self::Job { why, .. } => Target::Job(why.job.clone()),
        }
    }
}

pub(super) struct State {
    pub(super) database: String,
    flows: Vec<String>,
    pub(super) now: Timestamp,
    pub(super) list: List,
    pub(super) chosen: usize,
    pub(super) runs: Vec<RunSummary>,
    pub(super) jobs: Vec<JobSummary>,
    pub(super) queues: Vec<QueueDepth>,
    pub(super) needs: Vec<NeedDepth>,
    pub(super) workers: Vec<WorkerRecord>,
    pub(super) opened: Option<Opened>,
    pub(super) question: Option<Question>,
    pub(super) message: String,
}

impl State {
    pub(super) fn new(db: &Db, flows: Vec<String>) -> Self {
        Self {
            database: db.to_string(),
            flows,
            now: Timestamp::default(),
            list: List::Runs,
            chosen: 0,
            runs: Vec::new(),
            jobs: Vec::new(),
            queues: Vec::new(),
            needs: Vec::new(),
            workers: Vec::new(),
            opened: None,
            question: None,
            message: String::new(),
        }
    }

    /// Rows of the list in front.
    pub(super) fn rows(&self) -> usize {
        match self.list {
            List::Runs => self.runs.len(),
            List::Jobs => self.jobs.len(),
            List::Queues => self.queues.len() + self.needs.len(),
            List::Workers => self.workers.len(),
        }
    }

    /// What keys are about: what is open, or the chosen one of the list.
    pub(super) fn target(&self) -> Option<Target> {
        let listed = || match self.list {
            List::Runs => self.runs.get(self.chosen).map(|run| Target::Run(run.id)),
            List::Jobs => self.jobs.get(self.chosen).map(|job| Target::Job(job.id.clone())),
            List::Queues | List::Workers => None,
        };
        self.opened.as_ref().map(Opened::target).or_else(listed)
    }

    pub(super) async fn look(&mut self, db: &Db) -> Result<(), Error> {
        let query = RunQuery { flows: self.flows.clone(), max: MANY, ..RunQuery::default() };
        self.runs = db.list(&query).await?.runs;
        self.queues = db.queues().await?;
        if db.has_jobs() {
            self.look_at_jobs(db).await?;
        }
        self.workers = db.workers(&WorkerQuery::default()).await?;
        self.now = db.now().await?;
        self.chosen = self.chosen.min(self.rows().saturating_sub(1));
        if let Some(target) = self.opened.as_ref().map(Opened::target) {
            self.open(db, target).await?;
        }
        Ok(())
    }

    /// Live ones, and those that failed lately.
    async fn look_at_jobs(&mut self, db: &Db) -> Result<(), Error> {
        self.needs = db.job_depths_of(COUNTED).await?.needs;
        let of = |of: JobsOf, max| JobSearch { of, max, ..JobSearch::default() };
        let failed = [JobOutcome::Failed, JobOutcome::Crashed].map(JobsOf::EndedAs);
        self.jobs = db.find_jobs(&of(JobsOf::Live, MANY)).await?.jobs;
        for outcome in failed {
            self.jobs.extend(db.find_jobs(&of(outcome, FAILED)).await?.jobs);
        }
        Ok(())
    }

    async fn open(&mut self, db: &Db, target: Target) -> Result<(), Error> {
        self.opened = Some(match target {
            Target::Run(run) => {
                let (record, why) = (db.record(run, Parts::Steps).await?, db.why(run).await?);
                Opened::Run { record, why }
            }
            Target::Job(job) => {
                let (record, why) = (db.job(&job).record().await?, db.why_job(&job).await?);
                Opened::Job { record: Box::new(record), why }
            }
        });
        Ok(())
    }

    /// Does what a key said. What goes wrong is shown, and nothing ends.
    pub(super) async fn fulfil(&mut self, db: &Db, wish: Wish) {
        let done = match wish {
            Wish::Open(target) => self.open(db, target).await.map(|()| String::new()),
            Wish::Retry(target) => retried(db, &target).await,
            Wish::Cancel(target) => cancelled(db, &target).await,
            Wish::Nothing | Wish::Quit => return,
        };
        self.message = done.unwrap_or_else(|error| pgflow_model::with_causes(&error));
    }
}

const BY: &str = "by pgflow top";

async fn cancelled(db: &Db, target: &Target) -> Result<String, Error> {
    let (done, _) = match target {
        Target::Run(run) => cancel::cancel(db, *run, Some(BY)).await?,
        Target::Job(job) => job::cancel(db, job, BY).await?,
    };
    Ok(format!("{target} {done}"))
}

/// Lets it go on: a job that is live, after it has lost too many workers.
async fn retried(db: &Db, target: &Target) -> Result<String, Error> {
    let done = match target {
        Target::Run(run) => Some(retry::retry(db, *run).await?),
        Target::Job(job) => match db.job(job).status().await? {
            JobStanding::Ended(_) => {
                let jobs = [job.clone()];
                job::redrive(db, &jobs, Duration::ZERO).await?.pop()
            }
            JobStanding::Live(_) => job::clear(db, std::slice::from_ref(job)).await?.pop(),
        },
    };
    let (done, _) = done.unwrap_or_else(|| ("is gone".to_owned(), false));
    Ok(format!("{target} {done}"))
}
