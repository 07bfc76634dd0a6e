//! What is shown.

use std::pin::Pin;
use std::time::Duration;

use pgflow_runtime::backend::{
    JobRecord, JobSearch, JobStanding, JobSummary, JobsOf, NeedDepth, QueueDepth, RunQuery,
    RunSummary, WorkerRecord,
};
use pgflow_runtime::client::JobWhy;
use pgflow_runtime::job::{JobId, JobOutcome};
use pgflow_runtime::{Db, RunId, Timestamp};

use super::keys::Act;
use crate::bulk::Became;
use crate::error::Error;
use crate::run::Known;
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

/// What is open in front of the lists.
pub(super) enum Opened {
    Run(Box<Known>),
    Job { record: Box<JobRecord>, why: JobWhy },
}

impl Opened {
    async fn read(db: &Db, target: &Target) -> Result<Self, Error> {
        Ok(match target {
            Target::Run(run) => Self::Run(Box::new(Known::read(db, *run).await?)),
            Target::Job(job) => {
                let (record, why) = (db.job(job).record().await?, db.why_job(job).await?);
                Self::Job { record: Box::new(record), why }
            }
        })
    }

    fn target(&self) -> Target {
        match self {
            Self::Run(known) => Target::Run(known.why.run),
            Self::Job { why, .. } => Target::Job(why.job.clone()),
        }
    }
}

/// What the database says, at a moment.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) now: Timestamp,
    pub(super) runs: Vec<RunSummary>,
    pub(super) jobs: Vec<JobSummary>,
    pub(super) queues: Vec<QueueDepth>,
    pub(super) needs: Vec<NeedDepth>,
    pub(super) workers: Vec<WorkerRecord>,
    opened: Option<Opened>,
}

/// What the database was asked. The terminal is not kept waiting for it.
pub(super) type Asked<T> = Pin<Box<dyn Future<Output = T>>>;

/// Asks for everything that is shown.
pub(super) type Looking = Asked<Result<Seen, Error>>;

/// Does what a key said.
pub(super) type Acting = Asked<Result<Done, Error>>;

/// What became of it.
pub(super) enum Done {
    Opened(Opened),
    Said(String),
}

pub(super) struct State {
    pub(super) database: String,
    /// Whether moments are shown as they are.
    pub(super) is_utc: bool,
    flows: Vec<String>,
    pub(super) list: List,
    pub(super) chosen: usize,
    pub(super) seen: Seen,
    pub(super) opened: Option<Opened>,
    /// Lines of what is open that are above the screen.
    pub(super) scroll: u16,
    pub(super) question: Option<Act>,
    pub(super) message: String,
    /// Why the database could not be asked the last time.
    pub(super) trouble: Option<String>,
}

impl State {
    pub(super) fn new(db: &Db, flows: Vec<String>, is_utc: bool) -> Self {
        Self {
            database: db.to_string(),
            is_utc,
            flows,
            list: List::Runs,
            chosen: 0,
            seen: Seen::default(),
            opened: None,
            scroll: 0,
            question: None,
            message: String::new(),
            trouble: None,
        }
    }

    /// Rows of the list in front.
    pub(super) fn rows(&self) -> usize {
        match self.list {
            List::Runs => self.seen.runs.len(),
            List::Jobs => self.seen.jobs.len(),
            List::Queues => self.seen.queues.len() + self.seen.needs.len(),
            List::Workers => self.seen.workers.len(),
        }
    }

    /// What keys are about: what is open, or the chosen one of the list.
    pub(super) fn target(&self) -> Option<Target> {
        let listed = || match self.list {
            List::Runs => self.seen.runs.get(self.chosen).map(|run| Target::Run(run.id)),
            List::Jobs => self.seen.jobs.get(self.chosen).map(|job| Target::Job(job.id.clone())),
            List::Queues | List::Workers => None,
        };
        self.opened.as_ref().map(Opened::target).or_else(listed)
    }

    pub(super) fn look(&self, db: &Db) -> Looking {
        let (db, flows) = (db.clone(), self.flows.clone());
        let target = self.opened.as_ref().map(Opened::target);
        Box::pin(async move { look(&db, flows, target).await })
    }

    /// Shows what was found; a database that is gone for a while is said so, until it is back.
    pub(super) fn take(&mut self, looked: Result<Seen, Error>) {
        let mut seen = match looked {
            Ok(seen) => seen,
            Err(error) => {
                self.trouble = Some(pgflow_model::with_causes(&error));
                return;
            }
        };
        self.trouble = None;
        let (open, found) = (self.opened.as_ref(), seen.opened.take());
        // Somebody may have closed it, or opened another, meanwhile.
        if open.map(Opened::target) == found.as_ref().map(Opened::target) {
            self.opened = found;
        }
        self.seen = seen;
        self.chosen = self.chosen.min(self.rows().saturating_sub(1));
    }

    pub(super) fn close(&mut self) {
        (self.opened, self.scroll) = (None, 0);
    }

    /// Shows what became of a key. What goes wrong is shown, and nothing ends.
    pub(super) fn done(&mut self, done: Result<Done, Error>) {
        let message = match done {
            Ok(Done::Opened(opened)) => {
                (self.opened, self.scroll) = (Some(opened), 0);
                String::new()
            }
            Ok(Done::Said(said)) => said,
            Err(error) => pgflow_model::with_causes(&error),
        };
        // A question that was asked meanwhile stays.
        if self.question.is_none() {
            self.message = message;
        }
    }
}

pub(super) fn act(db: &Db, act: Act) -> Acting {
    let db = db.clone();
    Box::pin(async move {
        Ok(match act {
            Act::Open(target) => Done::Opened(Opened::read(&db, &target).await?),
            Act::Retry(target) => Done::Said(retried(&db, &target).await?),
            Act::Cancel(target) => Done::Said(cancelled(&db, &target).await?),
        })
    })
}

async fn look(db: &Db, flows: Vec<String>, target: Option<Target>) -> Result<Seen, Error> {
    let query = RunQuery { flows, max: MANY, ..RunQuery::default() };
    let mut seen = Seen { runs: db.list(&query).await?.runs, ..Seen::default() };
    seen.queues = db.queues().await?;
    if db.has_jobs() {
        look_at_jobs(db, &mut seen).await?;
    }
    seen.workers = db.all_workers().await?;
    seen.now = db.now().await?;
    if let Some(target) = target {
        seen.opened = Some(Opened::read(db, &target).await?);
    }
    Ok(seen)
}

/// Live ones, and those that failed lately.
async fn look_at_jobs(db: &Db, seen: &mut Seen) -> Result<(), Error> {
    seen.needs = db.job_depths_of(COUNTED).await?.needs;
    let of = |of: JobsOf, max| JobSearch { of, max, ..JobSearch::default() };
    let failed = [JobOutcome::Failed, JobOutcome::Crashed].map(JobsOf::EndedAs);
    seen.jobs = db.find_jobs(&of(JobsOf::Live, MANY)).await?.jobs;
    for outcome in failed {
        seen.jobs.extend(db.find_jobs(&of(outcome, FAILED)).await?.jobs);
    }
    Ok(())
}

const BY: &str = "by pgflow top";

async fn cancelled(db: &Db, target: &Target) -> Result<String, Error> {
    let became = match target {
        Target::Run(run) => cancel::cancel(db, *run, Some(BY)).await?,
        Target::Job(job) => job::cancel(db, job, BY).await?,
    };
    Ok(format!("{target} {}", became.text))
}

/// Lets it go on: a job that is live, after it has lost too many workers.
async fn retried(db: &Db, target: &Target) -> Result<String, Error> {
    let became = match target {
        Target::Run(run) => Some(retry::retry(db, *run).await?),
        Target::Job(job) => match db.job(job).status().await? {
            JobStanding::Ended(_) => {
                let jobs = [job.clone()];
                job::redrive(db, &jobs, Duration::ZERO).await?.pop()
            }
            JobStanding::Live(_) => job::clear(db, std::slice::from_ref(job)).await?.pop(),
        },
    };
    Ok(format!("{target} {}", became.unwrap_or_else(Became::gone).text))
}
