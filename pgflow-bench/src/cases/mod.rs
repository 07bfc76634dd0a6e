//! The cases that drive the SQL core itself. Those through a worker are in `crate::worker`.

mod batch;
mod control;
mod diamond;
mod history;
mod jobs;
mod map;
mod outputs;
mod phased;
mod single;
mod start;
mod waiting;
mod width;

use crate::args::Protocol;
use crate::drive::Driver;
use crate::error::Result;
use crate::sample::Reading;
use crate::size::Sizes;
use crate::target::Target;

pub(crate) use jobs::{CLAIMS, EMPTY, FILL, PATIENCE, share_out};

/// Everything that can be measured, in the order it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Case {
    Insert,
    Update,
    Queue,
    Single,
    Diamond,
    Map,
    Start,
    Width,
    Waiting,
    History,
    Outputs,
    Batch,
    JobSubmit,
    JobCycle,
    JobEmpty,
    JobJoin,
}

/// What a case needs to run once.
pub(crate) struct Context<'a> {
    pub(crate) target: &'a mut Target,
    pub(crate) sizes: &'a Sizes,
    pub(crate) protocol: Protocol,
    pub(crate) batch: u32,
    pub(crate) seed: u64,
}

impl Case {
    pub(crate) const ALL: [Self; 16] = [
        Self::Insert,
        Self::Update,
        Self::Queue,
        Self::Single,
        Self::Diamond,
        Self::Map,
        Self::Start,
        Self::Width,
        Self::Waiting,
        Self::History,
        Self::Outputs,
        Self::Batch,
        Self::JobSubmit,
        Self::JobCycle,
        Self::JobEmpty,
        Self::JobJoin,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Insert => "control-insert",
            Self::Update => "control-update",
            Self::Queue => "control-queue",
            Self::Single => "single",
            Self::Diamond => "diamond",
            Self::Map => "map",
            Self::Start => "start",
            Self::Width => "flat-width",
            Self::Waiting => "flat-waiting",
            Self::History => "flat-history",
            Self::Outputs => "flat-outputs",
            Self::Batch => "batch",
            Self::JobSubmit => "jobs-submit",
            Self::JobCycle => "flat-jobs",
            Self::JobEmpty => "jobs-empty",
            Self::JobJoin => "jobs-join",
        }
    }

    pub(crate) fn about(self) -> &'static str {
        match self {
            Self::Insert => "control: INSERT of one row per transaction",
            Self::Update => "control: UPDATE of one row by primary key per transaction",
            Self::Queue => "control: pgmq send, read and archive in batches, no pgflow",
            Self::Single => "runs of one step: start, then drain",
            Self::Diamond => "runs of four steps in a diamond: start, then drain",
            Self::Map => "one wide map: spawn, drain, and claim and complete apart",
            Self::Start => "start_flow alone: a diamond, and a wide root map",
            Self::Width => "does the cost per task stay flat from narrow to wide maps?",
            Self::Waiting => "… with many messages waiting, or delayed, in the queue?",
            Self::History => "… with many finished runs in the tables?",
            Self::Outputs => {
                "… with more outputs to put together, and to hand on, at the end of a map?"
            }
            Self::Batch => "maps claimed and completed in batches of several sizes",
            Self::JobSubmit => "jobs submitted one by one, and in batches",
            Self::JobCycle => {
                "jobs claimed, finished and submitted, with few and with many in line"
            }
            Self::JobEmpty => "claims that come back empty although there are jobs for all",
            Self::JobJoin => "jobs that one other waits for, and their ends",
        }
    }

    /// What jobs are measured with: their functions may be there where flows are not.
    pub(crate) fn is_of_jobs(self) -> bool {
        matches!(self, Self::JobSubmit | Self::JobCycle | Self::JobEmpty | Self::JobJoin)
    }

    /// The ways in which it should be driven on a core that offers `preferred`.
    pub(crate) fn protocols(self, preferred: Protocol) -> Vec<Protocol> {
        match self {
            Self::Single | Self::Diamond | Self::Map if preferred == Protocol::Batched => {
                vec![Protocol::Batched, Protocol::Published]
            }
            Self::Batch | Self::Outputs if preferred == Protocol::Published => Vec::new(),
            _ => vec![preferred],
        }
    }

    /// Tasks per claim and settle, where the case has one number of them.
    pub(crate) fn batch(self, context: &Context<'_>) -> Option<u32> {
        let claims =
            !self.is_control() && !matches!(self, Self::Start | Self::Outputs | Self::Batch);
        if self.is_of_jobs() {
            return Some(context.batch);
        }
        claims.then(|| context.driver("").batch)
    }

    pub(crate) fn is_control(self) -> bool {
        matches!(self, Self::Insert | Self::Update | Self::Queue)
    }

    /// Whether one call does all rounds, because preparing it is slow.
    pub(crate) fn has_own_rounds(self) -> bool {
        matches!(self, Self::History)
    }

    pub(crate) async fn run(self, context: &mut Context<'_>) -> Result<Vec<Reading>> {
        match self {
            Self::Insert | Self::Update | Self::Queue => control::run(self, context).await,
            Self::Single => single::run(context).await,
            Self::Diamond => diamond::run(context).await,
            Self::Map => map::run(context).await,
            Self::Start => start::run(context).await,
            Self::Width => width::run(context).await,
            Self::Waiting => waiting::run(context).await,
            Self::History => history::run(context).await,
            Self::Outputs => outputs::run(context).await,
            Self::Batch => batch::run(context).await,
            Self::JobSubmit => jobs::submit(context).await,
            Self::JobCycle => jobs::cycle(context).await,
            Self::JobEmpty => jobs::empty(context).await,
            Self::JobJoin => jobs::join(context).await,
        }
    }
}

impl Context<'_> {
    pub(crate) fn driver(&self, queue: &str) -> Driver {
        Driver::new(self.protocol, queue, self.target.worker, self.batch)
    }
}
