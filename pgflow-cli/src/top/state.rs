//! What is shown.

use pgflow_runtime::backend::{
    Parts, QueueDepth, RunQuery, RunRecord, RunSummary, WorkerQuery, WorkerRecord,
};
use pgflow_runtime::client::Why;
use pgflow_runtime::{Db, RunId, Timestamp};

use super::keys::Wish;
use crate::cancel::cancel;
use crate::error::Error;
use crate::retry::retry;

/// Runs in the list.
const RUNS: u32 = 200;

/// Which list is in front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    Runs,
    Queues,
    Workers,
}

/// What was asked and not answered yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    Retry(RunId),
    Cancel(RunId),
}

/// A run that is open in front of the lists.
pub(super) struct Opened {
    pub(super) id: RunId,
    pub(super) record: RunRecord,
    pub(super) why: Why,
}

pub(super) struct State {
    pub(super) database: String,
    flows: Vec<String>,
    pub(super) now: Timestamp,
    pub(super) list: List,
    pub(super) chosen: usize,
    pub(super) runs: Vec<RunSummary>,
    pub(super) queues: Vec<QueueDepth>,
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
            queues: Vec::new(),
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
            List::Queues => self.queues.len(),
            List::Workers => self.workers.len(),
        }
    }

    /// The run that keys are about: the open one, or the chosen one of the list.
    pub(super) fn run(&self) -> Option<RunId> {
        let listed = || self.runs.get(self.chosen).filter(|_| self.list == List::Runs);
        self.opened.as_ref().map(|opened| opened.id).or_else(|| listed().map(|run| run.id))
    }

    pub(super) async fn look(&mut self, db: &Db) -> Result<(), Error> {
        let query = RunQuery { flows: self.flows.clone(), max: RUNS, ..RunQuery::default() };
        self.runs = db.list(&query).await?.runs;
        self.queues = db.queues().await?;
        self.workers = db.workers(&WorkerQuery::default()).await?;
        self.now = db.now().await?;
        self.chosen = self.chosen.min(self.rows().saturating_sub(1));
        if let Some(id) = self.opened.as_ref().map(|opened| opened.id) {
            self.open(db, id).await?;
        }
        Ok(())
    }

    async fn open(&mut self, db: &Db, id: RunId) -> Result<(), Error> {
        let (record, why) = (db.record(id, Parts::Steps).await?, db.why(id).await?);
        self.opened = Some(Opened { id, record, why });
        Ok(())
    }

    /// Does what a key said. What goes wrong is shown, and nothing ends.
    pub(super) async fn fulfil(&mut self, db: &Db, wish: Wish) {
        let done = match wish {
            Wish::Open(run) => self.open(db, run).await.map(|()| String::new()),
            Wish::Retry(run) => retry(db, run).await.map(|(done, _)| format!("{run} {done}")),
            Wish::Cancel(run) => {
                let done = cancel(db, run, Some("by pgflow top")).await;
                done.map(|(done, _)| format!("{run} {done}"))
            }
            Wish::Nothing | Wish::Quit => return,
        };
        self.message = done.unwrap_or_else(|error| pgflow_model::with_causes(&error));
    }
}
