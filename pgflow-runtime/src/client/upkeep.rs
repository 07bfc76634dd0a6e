//! Looking after a database.

use std::time::Duration;

use pgflow_machine::{RunId, Timestamp};

use super::patience::patiently;
use super::{ClientError, Run};
use crate::Flow;
use crate::backend::{
    Activity, Backend, Checkup, Definition, FlowRecord, QueueDepth, Reply, SchemaState,
    StepStatistics, StepTimes, TaskQuery, TaskRecord, WorkerQuery, WorkerRecord,
};
use crate::db::Db;

/// Workers that are read at once.
const WORKERS: u32 = 1_000;

/// What the database is asked, with what it needs for that: an answer may be waited for longer than the caller lives.
macro_rules! ask {
    ($db:expr, $backend:ident, [$($kept:ident),*], $call:expr) => {
        Ok(patiently($db, move |backend: &dyn Backend| -> Reply<'_, _> {
            $(let $kept = $kept.clone();)*
            Box::pin(async move {
                let $backend = backend;
                $call.await
            })
        })
        .await?)
    };
}

impl Db {
    /// Which schema the database has.
    pub async fn schema(&self) -> Result<SchemaState, ClientError> {
        ask!(self, backend, [], backend.schema())
    }

    /// What time it is for the database.
    pub async fn now(&self) -> Result<Timestamp, ClientError> {
        ask!(self, backend, [], backend.now())
    }

    /// Every version of every flow, by name and number.
    ///
    /// ```
    /// # use pgflow::prelude::*;
    /// # #[flow(input = u8)] mod count { #[step] pub async fn one(run: u8) -> pgflow::Result<u8> { Ok(run) } }
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// # let db = pgflow::Db::connect("memory:").await?;
    /// db.register(count::Flow).await?;
    /// let flows = db.flows().await?;
    /// assert_eq!((flows[0].slug.as_str(), flows[0].is_current, flows[0].steps), ("count", true, 1));
    /// # Ok(()) })
    /// # }
    /// ```
    pub async fn flows(&self) -> Result<Vec<FlowRecord>, ClientError> {
        ask!(self, backend, [], backend.flows())
    }

    /// The graph of a version, by its slug, or of the newest version of the flow of this name.
    ///
    /// ```
    /// # use pgflow::prelude::*;
    /// # #[flow(input = u8)] mod count { #[step] pub async fn one(run: u8) -> pgflow::Result<u8> { Ok(run) } }
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// # let db = pgflow::Db::connect("memory:").await?;
    /// # db.register(count::Flow).await?;
    /// let count = db.definition("count").await?.expect("it is registered");
    /// assert_eq!(count.shape.steps[0].slug, "one");
    /// assert_eq!(count.input_schema.expect("it has one")["type"], "integer");
    /// # Ok(()) })
    /// # }
    /// ```
    pub async fn definition(&self, flow: &str) -> Result<Option<Definition>, ClientError> {
        let known = self.flows().await?;
        let newest = known.iter().find(|known| known.flow == flow && known.is_current);
        let found = newest.or_else(|| known.iter().find(|known| known.slug == flow));
        let Some(slug) = found.map(|found| found.slug.clone()) else { return Ok(None) };
        ask!(self, backend, [slug], backend.definition(&slug))
    }

    /// What waits and what is being worked on, per version of a flow.
    pub async fn queues(&self) -> Result<Vec<QueueDepth>, ClientError> {
        ask!(self, backend, [], backend.queues())
    }

    /// When the steps of a run began and ended, in the order of the flow.
    pub async fn step_times(&self, run: RunId) -> Result<Vec<StepTimes>, ClientError> {
        ask!(self, backend, [], backend.step_times(run))
    }

    /// Tasks of a step, by index: a page of them.
    pub async fn tasks(
        &self,
        run: RunId,
        step: &str,
        query: &TaskQuery,
    ) -> Result<Vec<TaskRecord>, ClientError> {
        let (step, query) = (step.to_owned(), query.clone());
        ask!(self, backend, [step, query], backend.tasks(run, &step, &query))
    }

    /// Workers, the newest first: a page of them.
    pub async fn workers(&self, query: &WorkerQuery) -> Result<Vec<WorkerRecord>, ClientError> {
        let query = query.clone();
        ask!(self, backend, [query], backend.workers(&query))
    }

    /// All workers that are there, or should be: however many there are.
    ///
    /// ```
    /// # use pgflow::prelude::*;
    /// # fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let db = Db::connect("memory:").await?;
    /// assert!(db.all_workers().await?.is_empty());
    /// # Ok(()) })
    /// # }
    /// ```
    pub async fn all_workers(&self) -> Result<Vec<WorkerRecord>, ClientError> {
        let mut all: Vec<WorkerRecord> = Vec::new();
        loop {
            let after = all.last().map(|last| last.id);
            let query = WorkerQuery { with_gone: false, after, max: WORKERS };
            let page = self.workers(&query).await?;
            let is_last = page.len() < WORKERS as usize;
            all.extend(page);
            if is_last {
                return Ok(all);
            }
        }
    }

    /// How the steps of a version did, by its slug, in its newest runs (a thousand at most) that began in this window.
    pub async fn step_statistics(
        &self,
        version: &str,
        window: Duration,
    ) -> Result<Vec<StepStatistics>, ClientError> {
        let version = version.to_owned();
        ask!(self, backend, [version], backend.step_statistics(&version, window))
    }

    /// What became of the newest runs (20,000 at most) that began in this window, minute by minute: of these flows,
    /// or of all if none is named.
    pub async fn activity(
        &self,
        flows: &[String],
        window: Duration,
    ) -> Result<Activity, ClientError> {
        let flows = flows.to_vec();
        ask!(self, backend, [flows], backend.activity(&flows, window))
    }

    /// How many runs [`prune`](Self::prune) would delete, counted up to `max`.
    pub async fn prunable(&self, older_than: Duration, max: u64) -> Result<u64, ClientError> {
        ask!(self, backend, [], backend.prunable(older_than, max))
    }

    /// Looks for anything that cannot be, and for jobs that wait for one in crash concern, which go on when somebody decides: a sentence
    /// each, none when all is well. Reads everything.
    pub async fn check(&self) -> Result<Vec<String>, ClientError> {
        ask!(self, backend, [], backend.check())
    }

    /// How the database itself is doing, as far as this login may know.
    pub async fn checkup(&self) -> Result<Checkup, ClientError> {
        ask!(self, backend, [], backend.checkup())
    }
}

impl<F: Flow> Run<F> {
    /// Tasks of a step, by index: see [`Db::tasks`].
    pub async fn tasks(
        &self,
        step: &str,
        query: &TaskQuery,
    ) -> Result<Vec<TaskRecord>, ClientError> {
        self.db.tasks(self.id, step, query).await
    }

    /// When its steps began and ended: see [`Db::step_times`].
    pub async fn step_times(&self) -> Result<Vec<StepTimes>, ClientError> {
        self.db.step_times(self.id).await
    }
}
