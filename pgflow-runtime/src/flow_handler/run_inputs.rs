//! Inputs of runs, for the tasks of maps that take them.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pgflow_backend::weight::weight;
use pgflow_machine::RunId;
use serde_json::Value;
use tokio::sync::OnceCell;
use tokio::time::Instant;

use crate::backend::{BackendError, Reply};

/// So many bytes are kept, of the runs that asked last: four of the largest inputs.
const MOST: usize = 16 << 20;

/// What keeping an input takes besides it.
const EACH: usize = 256;

/// Nobody asks again for an input that was not asked for in so long, since tasks of a run come together.
const LONGEST: Duration = Duration::from_mins(1);

type Input = Arc<OnceCell<Arc<Value>>>;

/// Inputs that were read. Tasks of one run that ask at the same time share one read.
#[derive(Debug, Default)]
pub(super) struct RunInputs(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    inputs: HashMap<RunId, Entry>,
    /// Those that were asked for last come last.
    order: BTreeMap<u64, RunId>,
    asked: u64,
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    input: Input,
    bytes: usize,
    /// Its place in the order.
    place: u64,
    at: Instant,
}

impl RunInputs {
    /// The input of a run. A read that fails is made again by the next who asks.
    pub(super) async fn of<'a>(
        &self,
        run: RunId,
        read: impl FnOnce() -> Reply<'a, Option<Value>>,
    ) -> Result<Arc<Value>, BackendError> {
        let input = self.lock().input(run, Instant::now());
        let read = async || {
            let value = Arc::new(read().await?.unwrap_or_default());
            self.lock().weighs(run, EACH + weight(&value));
            Ok(value)
        };
        input.get_or_try_init(read).await.cloned()
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn input(&mut self, run: RunId, now: Instant) -> Input {
        self.forget_while(|entry| now.duration_since(entry.at) > LONGEST);
        self.asked += 1;
        let place = self.asked;
        let entry = self.inputs.entry(run).or_insert_with(|| {
            self.bytes += EACH;
            Entry { input: Input::default(), bytes: EACH, place, at: now }
        });
        self.order.remove(&entry.place);
        self.order.insert(place, run);
        (entry.place, entry.at) = (place, now);
        let input = entry.input.clone();
        self.make_room();
        input
    }

    fn weighs(&mut self, run: RunId, bytes: usize) {
        let Some(entry) = self.inputs.get_mut(&run) else { return };
        self.bytes = self.bytes - entry.bytes + bytes;
        entry.bytes = bytes;
        self.make_room();
    }

    /// The input that was asked for last stays.
    fn make_room(&mut self) {
        while self.bytes > MOST && self.inputs.len() > 1 {
            self.forget_first();
        }
    }

    fn forget_while(&mut self, is_old: impl Fn(&Entry) -> bool) {
        while let Some(run) = self.order.values().next()
            && self.inputs.get(run).is_none_or(&is_old)
        {
            self.forget_first();
        }
    }

    fn forget_first(&mut self) {
        let first = self.order.pop_first().and_then(|(_, run)| self.inputs.remove(&run));
        self.bytes -= first.map_or(0, |entry| entry.bytes);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use futures_util::future::join_all;
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn a_run_is_read_once_however_many_tasks_ask() {
        let (inputs, reads) = (RunInputs::default(), AtomicU32::new(0));
        let run = RunId::new();
        let ask = || {
            inputs.of(run, || {
                reads.fetch_add(1, Ordering::Relaxed);
                Box::pin(async {
                    tokio::task::yield_now().await;
                    Ok(Some(json!("in")))
                })
            })
        };
        let asked = join_all((0..100).map(|_| ask())).await;
        assert!(asked.iter().all(|input| matches!(input, Ok(input) if **input == "in")));
        assert_eq!(reads.load(Ordering::Relaxed), 1);
    }

    #[tokio::test]
    async fn a_read_that_failed_is_made_again() {
        let inputs = RunInputs::default();
        let run = RunId::new();
        let failed = inputs.of(run, || Box::pin(async { Err(BackendError::Closed) })).await;
        assert!(failed.is_err());
        let read = inputs.of(run, || Box::pin(async { Ok(Some(json!(1))) })).await;
        assert_eq!(*read.expect("read again"), 1);
    }

    async fn read(inputs: &RunInputs, run: RunId, bytes: usize) -> bool {
        let is_read = AtomicU32::new(0);
        let read = inputs.of(run, || {
            is_read.fetch_add(1, Ordering::Relaxed);
            Box::pin(async move { Ok(Some(json!("x".repeat(bytes)))) })
        });
        assert_eq!(weight(&read.await.expect("it is there")), bytes + 2);
        is_read.into_inner() == 1
    }

    fn runs(many: usize) -> Vec<RunId> {
        (0..many).map(|_| RunId::new()).collect()
    }

    #[tokio::test]
    async fn bytes_are_bounded_and_what_was_asked_for_long_ago_goes_first() {
        let (inputs, runs) = (RunInputs::default(), runs(5));
        for run in &runs[..3] {
            assert!(read(&inputs, *run, 5 << 20).await);
        }
        assert!(!read(&inputs, runs[0], 5 << 20).await, "three fit");
        assert!(read(&inputs, runs[3], 5 << 20).await);
        assert!(!read(&inputs, runs[0], 5 << 20).await, "asked for since");
        assert!(read(&inputs, runs[1], 5 << 20).await, "the oldest has gone");
        assert!(read(&inputs, runs[4], MOST).await);
        assert!(!read(&inputs, runs[4], MOST).await, "one is always kept");
        assert_eq!(inputs.lock().inputs.len(), 1);
        assert!(read(&inputs, runs[0], 1).await);
        assert_eq!(inputs.lock().bytes, EACH + 3);
    }

    #[tokio::test]
    async fn many_small_ones_are_kept_and_not_any_number() {
        let (inputs, runs) = (RunInputs::default(), runs(2 * MOST / EACH));
        for run in &runs[..1_000] {
            assert!(read(&inputs, *run, 10).await);
        }
        assert!(!read(&inputs, runs[0], 10).await);
        for run in &runs[1_000..] {
            inputs.lock().input(*run, Instant::now());
        }
        let kept = inputs.lock();
        assert!(kept.bytes <= MOST && kept.inputs.len() == kept.order.len());
    }

    #[tokio::test(start_paused = true)]
    async fn what_nobody_needs_any_more_is_dropped() {
        let (inputs, runs) = (RunInputs::default(), runs(3));
        for run in &runs {
            read(&inputs, *run, 100).await;
            tokio::time::advance(LONGEST * 2 / 3).await;
        }
        assert!(!read(&inputs, runs[2], 100).await);
        assert_eq!(inputs.lock().inputs.len(), 1);
    }
}
