//! Pipelines in tests: in this process, without a database, without waiting.

use std::collections::VecDeque;
use std::fmt;

use pgflow_machine::job::JobSettled;
use pgflow_machine::permit::{MessageSettle, Stage};
use pgflow_machine::{Limits, Settled};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::sim::database::Transactions;
use super::sim::drive::{end, runtime};
use super::{Crash, block_on};
use crate::Db;
use crate::backend::{Backend as _, JobQuery, StageClaim};
use crate::check::Lasts;
use crate::client::ClientError;
use crate::memory::Memory;
use crate::pipeline::{
    Made, MessageContext, PipelineSpec, Queue, StageSpec, StageWork, Work, check_all, declare,
    settles,
};
use crate::worker::WorkerError;

/// So many attempts are made at one moment: more is a pipeline that feeds itself.
const MOST: usize = 10_000;

/// A pipeline with one worker, in virtual time. What a test does not let happen does not happen.
///
/// ```
/// use std::time::Duration;
/// use pgflow::pipeline::{Pipeline, Queue};
/// use pgflow::testing::{Crash, TestPipeline};
///
/// # fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
/// let docs = Queue::<String>::named("docs").attempts(2);
/// let words = Queue::<String>::named("words");
/// let split = Pipeline::new("split", &docs)
///     .process(|doc, _ctx| async move { Ok(doc) })
///     .emit(&words, |doc| doc.split(' ').map(str::to_owned).collect::<Vec<_>>());
///
/// let mut test = TestPipeline::new(split);
/// test.crash(Crash::BeforeSettle, 1);
/// test.push(&docs, &"one two three".to_owned())?;
/// test.run();
/// assert!(test.waiting(&words)?.is_empty(), "the worker died: nothing was emitted");
/// test.advance(Duration::from_secs(60)); // its lease lapses
/// assert_eq!(test.waiting(&words)?, ["one", "two", "three"]);
/// # Ok(())
/// # }
/// ```
pub struct TestPipeline {
    memory: Memory,
    db: Db,
    pipeline: PipelineSpec,
    /// Whether what it takes was declared, which is when it works first: its test says before what there is.
    is_declared: bool,
    sqlite: Transactions,
    batches: Vec<String>,
    crashes: VecDeque<Crash>,
}

impl fmt::Debug for TestPipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestPipeline").field("pipeline", &self.pipeline).finish_non_exhaustive()
    }
}

impl TestPipeline {
    /// A test of this pipeline. Its rates are declared; resources are the test's to [set](Db::resource) before it
    /// [runs](Self::run).
    ///
    /// # Panics
    ///
    /// If a worker would refuse the pipeline, in its words.
    pub fn new(pipeline: impl Into<PipelineSpec>) -> Self {
        let (memory, pipeline) = (Memory::new(), pipeline.into());
        let declared = async {
            let rates = check_all(std::slice::from_ref(&pipeline))?;
            memory.pipelines()?.declare(&rates, &[].into()).await.map_err(WorkerError::from)
        };
        block_on(declared).unwrap_or_else(|error| panic!("{error}"));
        let db = Db::new(memory.clone());
        let (batches, crashes) = (Vec::new(), VecDeque::new());
        let sqlite = Transactions::default();
        Self { memory, db, pipeline, is_declared: false, sqlite, batches, crashes }
    }

    /// The database, which is in memory.
    pub fn db(&self) -> &Db {
        &self.db
    }

    /// The database in memory that functions with `tx: &mut Tx` write to: make their tables here, and look at what they wrote. Such
    /// a test needs `#[tokio::test(flavor = "multi_thread")]`: its one connection comes back in a task.
    #[cfg(feature = "sqlite")]
    pub fn sqlite(&self) -> sqlx::SqlitePool {
        self.sqlite.pool()
    }

    /// Pushes a message.
    pub fn push<T: Serialize + DeserializeOwned>(
        &mut self,
        queue: &Queue<T>,
        value: &T,
    ) -> Result<(), ClientError> {
        block_on(queue.push(&self.db, value)).map(drop)
    }

    /// Lets the worker die at the next so many attempts, and another take its place.
    pub fn crash(&mut self, moment: Crash, times: usize) {
        self.crashes.extend(std::iter::repeat_n(moment, times));
    }

    /// Works until there is nothing more to do at this moment.
    ///
    /// # Panics
    ///
    /// If there is no end of it, or a worker would not start because a resource is not there.
    pub fn run(&mut self) {
        self.work_off(false);
    }

    /// Works on what is there, and forms batches of it that are neither full nor old enough: as a worker does that is asked to stop
    /// and has [`flush`](crate::pipeline::Pipeline::flush).
    ///
    /// ```
    /// use std::time::Duration;
    /// use pgflow::pipeline::{Batch, Pipeline, Queue};
    /// use pgflow::testing::TestPipeline;
    ///
    /// # fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    /// let numbers = Queue::<u32>::named("numbers");
    /// let batch = Batch::len(100).wait(Duration::from_secs(60));
    /// let mut test = TestPipeline::new(
    ///     Pipeline::new("sum", &numbers).batch(batch, |batch, _ctx| async move { Ok(batch.settle_all(|it| it)) }),
    /// );
    /// test.push(&numbers, &7)?;
    /// test.run();
    /// assert!(test.batches().is_empty());
    /// test.flush();
    /// assert_eq!(test.batches(), ["1 by drain"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// As [`run`](Self::run) does.
    pub fn flush(&mut self) {
        self.work_off(true);
    }

    /// What a worker does when it starts.
    fn declare(&mut self) {
        if !std::mem::replace(&mut self.is_declared, true) {
            let declared = block_on(declare(&self.memory, &self.pipeline));
            declared.unwrap_or_else(|error| panic!("{error}"));
        }
    }

    fn work_off(&mut self, drains: bool) {
        self.declare();
        for _ in 0..MOST {
            let made =
                (0..self.pipeline.stages.len()).map(|at| self.attempt(at, drains)).sum::<usize>();
            if made == 0 {
                return;
            }
        }
        panic!("the pipeline feeds itself: {MOST} attempts at one moment");
    }

    /// Lets time go by, all at once, and works.
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn advance<D>(&mut self, time: D) where Self: Lasts<D> {
        let time = <Self as Lasts<D>>::time(time);
        self.memory.advance(time);
        self.run();
    }

    /// Batches so far, such as `2 by size`: also those that failed.
    pub fn batches(&self) -> &[String] {
        &self.batches
    }

    /// What is in a queue, in the order in which it was pushed, whatever it waits for.
    pub fn waiting<T: DeserializeOwned + Serialize>(
        &self,
        queue: &Queue<T>,
    ) -> Result<Vec<T>, ClientError> {
        let need = Some(queue.name().to_owned());
        let query = JobQuery { need, max: 10_000, ..JobQuery::default() };
        let mut waiting = Vec::new();
        for job in block_on(self.db.jobs(&query))? {
            let record = block_on(self.db.job(&job.id).record())?;
            waiting.push(queue.read(&record.payload)?);
        }
        Ok(waiting)
    }

    /// What dead messages of a queue died of.
    pub fn dead<T>(&self, queue: &Queue<T>) -> Result<Vec<String>, ClientError> {
        let dead = block_on(self.db.queue(queue.name()).dead(10_000))?;
        Ok(dead
            .into_iter()
            .map(|job| job.error.unwrap_or_else(|| job.standing.to_string()))
            .collect())
    }

    /// Claims once for a stage and works on what there is; says how many attempts that made.
    fn attempt(&mut self, at: usize, drains: bool) -> usize {
        let StageSpec { need, stage, lease, concurrency, .. } = &self.pipeline.stages[at];
        let max = concurrency.and_then(|max| u32::try_from(max).ok()).unwrap_or(16);
        let claim = StageClaim {
            stage: Stage { drains, ..stage.clone() },
            lease: *lease,
            ..StageClaim::new("test", need, max)
        };
        let claimed = block_on(async { self.memory.pipelines()?.claim_stage(&claim).await });
        let claimed = claimed.unwrap_or_else(|error| panic!("{error}"));
        let made = claimed.batches.len();
        let loading = self.pipeline.stages[at].loading(claimed.batches.iter());
        for batch in claimed.batches {
            let context = MessageContext::of(&batch);
            self.work(at, Work { claimed: batch, context, tx: None, loading: loading.clone() });
        }
        made
    }

    fn work(&mut self, at: usize, work: Work) {
        let crash = self.crashes.pop_front();
        if let Some(trigger) = work.claimed.trigger {
            self.batches.push(format!("{} by {trigger}", work.claimed.messages.len()));
        }
        if crash == Some(Crash::AfterClaim) {
            return;
        }
        let lease = work.claimed.lease.clone();
        let StageSpec { code, takes_tx, on_failure, .. } = &self.pipeline.stages[at];
        let (code, takes_tx, on_dead) = (code.clone(), *takes_tx, self.pipeline.on_dead.clone());
        let (on_failure, limits) = (*on_failure, Limits::default());
        let stage = StageWork { code, takes_tx, on_dead, on_failure, limits };
        // Transactions want to know of time, even if nobody waits for it.
        let around = tokio::runtime::Handle::try_current().ok();
        if takes_tx || self.pipeline.on_dead.is_some() {
            check_flavor(around.as_ref());
        }
        let runtime = around.is_none().then(runtime);
        let _inside = runtime.as_ref().map(tokio::runtime::Runtime::enter);
        block_on(async {
            let made = stage.make(work, &self.sqlite).await;
            let Made::Ends(ends, tx) = made.unwrap_or_else(|error| panic!("{error}")) else {
                return;
            };
            if crash == Some(Crash::BeforeSettle) {
                return end(tx, None).await;
            }
            let settles = settles(&lease, ends);
            let answers = self.settle(&settles).await;
            let is_applied = answers.iter().all(|answer| *answer == JobSettled::Applied);
            end(tx, is_applied.then_some(Settled::Applied)).await;
            if crash == Some(Crash::AfterSettle) {
                // Who did not learn of it says it again.
                let again = self.settle(&settles).await;
                assert!(!again.contains(&JobSettled::Applied), "settled twice: {again:?}");
            }
        });
    }

    async fn settle(&self, settles: &[MessageSettle]) -> Vec<JobSettled> {
        let queues = self.memory.pipelines().unwrap_or_else(|error| panic!("{error}"));
        let settled = queues.settle_messages(settles, "test").await;
        settled.unwrap_or_else(|error| panic!("{error}"))
    }
}

/// Where nothing else can run, a connection that a test has used never comes back.
fn check_flavor(around: Option<&tokio::runtime::Handle>) {
    let flavor = around.map(tokio::runtime::Handle::runtime_flavor);
    assert!(
        flavor != Some(tokio::runtime::RuntimeFlavor::CurrentThread),
        "a test of functions with `tx` needs `#[tokio::test(flavor = \"multi_thread\")]`"
    );
}
