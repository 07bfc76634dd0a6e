//! A worker that does one thing at a time.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::{RunId, Settle, Settled, Timestamp, Verdict, WorkerId};
use serde_json::Value;

use super::faults::Fault;
use super::{Crash, Sim, StepKey, database};
use crate::Served;
use crate::backend::{Backend, BackendError, Claim, ClaimedTask, Runs, Work};
use crate::check::Lasts;
use crate::flow_handler::attempt::{Attempt, finish};
use crate::flow_handler::task_input;
use crate::schedule::{self, Ticker};
use crate::tx::{Tx, TxSlot};
use crate::worker::Signals;

/// Tasks that a worker holds at once, where a seed decides how many.
const MOST_AT_ONCE: usize = 4;

/// What became of the worker.
pub(super) enum Worker {
    Lives,
    Died,
}

impl Sim {
    /// Does all there is to do, until only a client could change anything. Where everything waits, time goes by
    /// at once until it does not.
    ///
    /// # Panics
    ///
    /// Inside a runtime of tokio; use [`drive`](Self::drive) there.
    pub fn run_until_idle(&mut self) {
        runtime().block_on(self.drive());
    }

    /// Does what can be done without waiting.
    ///
    /// ```
    /// # use {pgflow::prelude::*, pgflow::testing::Sim, std::time::Duration};
    /// # #[flow] mod ping { #[step(base_delay = 1)] pub async fn pong() -> pgflow::Result<u8> { Ok(1) } }
    /// let mut sim = Sim::new().flow(ping::Flow);
    /// let run = sim.start(ping::Flow, &())?;
    /// sim.fail::<ping::pong>(1, "no answer");
    /// sim.run_ready();
    /// assert!(!sim.status(&run).has_ended());
    /// sim.advance(Duration::from_secs(2));
    /// sim.run_ready();
    /// assert!(sim.status(&run).has_ended());
    /// # Ok::<(), pgflow::testing::SimError>(())
    /// ```
    ///
    /// # Panics
    ///
    /// Inside a runtime of tokio; use [`drive`](Self::drive) there.
    pub fn run_ready(&mut self) {
        runtime().block_on(self.work());
    }

    /// [`run_until_idle`](Self::run_until_idle) for tests that have a runtime of their own. With
    /// `#[tokio::test(start_paused = true)]` sleeps and timeouts inside of steps cost no time either.
    ///
    /// # Panics
    ///
    /// If the memory refuses what a worker asks for: a mistake of this library.
    pub async fn drive(&mut self) {
        loop {
            self.work().await;
            let now = self.memory.now();
            let is_later = |due: &Timestamp| *due > now;
            let due = [self.memory.next_due(), self.next_job].into_iter().flatten();
            let Some(due) = due.filter(is_later).min() else { return };
            self.memory.advance(now.saturating_until(due));
        }
    }

    /// Works for so long, in the time of the simulation, with all that schedules start meanwhile.
    ///
    /// ```
    /// # use {pgflow::prelude::*, pgflow::testing::Sim, std::time::Duration};
    /// #[flow(schedule = "0 3 * * *")]
    /// mod nightly { #[step] pub async fn report() -> pgflow::Result<u8> { Ok(1) } }
    ///
    /// let mut sim = Sim::new().flow(nightly::Flow);
    /// sim.run_for(Duration::from_hours(7 * 24));
    /// assert_eq!(sim.calls::<nightly::report>(), 7);
    /// ```
    ///
    /// # Panics
    ///
    /// Inside a runtime of tokio; use [`drive_for`](Self::drive_for) there.
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn run_for<D>(&mut self, time: D) where Self: Lasts<D> {
        let time = <Self as Lasts<D>>::time(time);
        runtime().block_on(self.drive_for(time));
    }

    /// [`run_for`](Self::run_for) for tests that have a runtime of their own.
    ///
    /// # Panics
    ///
    /// If the memory refuses what a worker asks for: a mistake of this library.
    pub async fn drive_for(&mut self, time: Duration) {
        let end = self.memory.now() + time;
        loop {
            self.work().await;
            let now = self.memory.now();
            let due = [self.memory.next_due(), self.memory.next_scheduled(), self.next_job];
            let due = due.into_iter().flatten().filter(|due| *due > now).min();
            let Some(due) = due.filter(|due| *due <= end) else {
                return self.memory.advance(now.saturating_until(end));
            };
            self.memory.advance(now.saturating_until(due));
        }
    }

    async fn work(&mut self) {
        expect(self.memory.sweep().await);
        self.tick().await;
        loop {
            let attempts = self.claim().await;
            let worker = if attempts.is_empty() {
                self.work_on_job().await
            } else {
                Some(self.hold(attempts).await)
            };
            match worker {
                None => return,
                Some(Worker::Died) => self.worker = WorkerId::new(),
                Some(Worker::Lives) => {}
            }
        }
    }

    /// Starts what schedules want by now.
    async fn tick(&mut self) {
        let flows: Vec<_> = self.registry.flows().collect();
        if !self.is_scheduled {
            let registered = schedule::register(&self.db, &flows).await;
            registered.expect("memory refuses no schedule that the compiler has checked");
            self.is_scheduled = true;
        }
        expect(Ticker::new(flows).tick(&self.memory).await);
    }

    async fn claim(&mut self) -> Vec<Attempt> {
        let served = self.registry.served();
        let at_once = self.numbers.as_mut().map_or(1, |numbers| 1 + numbers.below(MOST_AT_ONCE));
        let (queues, max) = (served.iter().map(Served::slug), u32::try_from(at_once).unwrap_or(1));
        let claim = Claim::of_queues(queues, max, self.worker);
        let claimed = expect(self.memory.claim(&claim).await);
        let mut attempts: Vec<_> =
            claimed.tasks.into_iter().filter_map(|task| attempt(&served, task)).collect();
        if let Some(numbers) = &mut self.numbers {
            numbers.shuffle(&mut attempts);
        }
        attempts
    }

    /// Works on tasks until they are settled, or the worker dies.
    async fn hold(&mut self, attempts: Vec<Attempt>) -> Worker {
        let is_told = attempts.iter().any(|it| self.faults.take_crash_after_claim(key(it)));
        if self.crashes.is_now() || is_told {
            return Worker::Died;
        }
        let mut batch = Vec::new();
        let mut left = attempts.len();
        for attempt in attempts {
            left -= 1;
            let fault = self.faults.take(key(&attempt));
            let crash = match fault {
                Some(Fault::Crashes(moment)) => Some(moment),
                _ => None,
            };
            let (settle, tx) = self.settle_of(attempt, fault).await;
            batch.push(settle);
            let goes = self.numbers.as_mut().is_none_or(|numbers| numbers.below(2) == 0);
            // No other task can write while a transaction is open.
            if left > 0 && !goes && crash.is_none() && tx.is_none() {
                continue;
            }
            if let Worker::Died = self.settle(std::mem::take(&mut batch), crash, tx).await {
                return Worker::Died;
            }
        }
        Worker::Lives
    }

    /// What is to be recorded, with the transaction of the step if it has one.
    async fn settle_of(&mut self, attempt: Attempt, fault: Option<Fault>) -> (Settle, Option<Tx>) {
        let (verdict, tx) = match fault {
            Some(Fault::Fails(verdict)) => (verdict, None),
            // Its worker dies before it says anything.
            Some(Fault::Crashes(Crash::AfterClaim)) => (Verdict::Released, None),
            None | Some(Fault::Crashes(_)) => match self.returns.get(&key(&attempt)) {
                Some(output) => (Verdict::Completed(output.clone()), None),
                None => self.call(&attempt).await,
            },
        };
        (Settle { lease: attempt.task.lease.into(), verdict }, tx)
    }

    async fn call(&mut self, attempt: &Attempt) -> (Verdict, Option<Tx>) {
        *self.calls.entry(key(attempt)).or_default() += 1;
        let limits = expect(self.memory.limits().await);
        let run = if task_input::needs_run(attempt.step) {
            Some(self.input_of(attempt.task.lease.task.run).await)
        } else {
            None
        };
        let task = task_input::with_run(attempt, self.states.clone(), run);
        let backend: Arc<dyn Backend> = Arc::new(self.memory.clone());
        let Some(task) = expect(attempt.with_hook(task, &backend).await) else {
            return (Verdict::Released, None);
        };
        let (task, outlet) = attempt.with_outlet(task, &backend, limits);
        let tx = if attempt.step.takes_tx { database::begin(self).await } else { None };
        let Some(tx) = tx else {
            let verdict = attempt.verdict(&limits, task).await;
            return (finish(outlet, verdict).await, None);
        };
        let (scope, slot) = (tx.scope(), TxSlot::holding(tx));
        let verdict = attempt.verdict(&limits, task.with_tx(slot.clone()));
        (scope.around(verdict).await, slot.take())
    }

    async fn input_of(&self, run: RunId) -> Arc<Value> {
        Arc::new(expect(self.memory.input(run).await).unwrap_or_default())
    }

    /// The transaction is that of the last settle, and ends as it does.
    async fn settle(&mut self, batch: Vec<Settle>, crash: Option<Crash>, tx: Option<Tx>) -> Worker {
        if self.crashes.is_now() || matches!(crash, Some(Crash::BeforeSettle | Crash::AfterClaim)) {
            end(tx, None).await;
            return Worker::Died;
        }
        let is_completed =
            batch.last().is_some_and(|last| matches!(last.verdict, Verdict::Completed(_)));
        let work = expect(self.memory.settle(&batch, None).await);
        end(tx, work.settled.last().copied().filter(|_| is_completed)).await;
        if self.crashes.is_now() || crash == Some(Crash::AfterSettle) {
            return Worker::Died;
        }
        Worker::Lives
    }
}

pub(in crate::testing) async fn end(tx: Option<Tx>, settled: Option<Settled>) {
    if let Some(tx) = tx {
        database::end(tx, settled).await;
    }
}

fn attempt(served: &[Served], task: ClaimedTask) -> Option<Attempt> {
    let served = *served.iter().find(|version| version.slug() == task.flow)?;
    let step = served.step(&task.lease.task.step)?;
    Some(Attempt { served, step, task, signals: Signals::default() })
}

fn key(attempt: &Attempt) -> StepKey {
    (attempt.served.flow().slug, attempt.step.slug)
}

pub(in crate::testing) fn runtime() -> tokio::runtime::Runtime {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime on this thread needs nothing that could be missing")
}

pub(super) fn expect<T>(result: Result<T, BackendError>) -> T {
    result.expect("memory refuses nothing that a worker asks for")
}
