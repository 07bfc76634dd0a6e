//! Waiting for the ends of runs: one look for all who wait in a process.

mod driver;
mod hinted;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pgflow_machine::{RunId, RunStatus};
use tokio::sync::{Notify, oneshot};

pub(super) use driver::statuses;

use super::ClientError;
use crate::backend::{Backend, BackendError, RunSummary};
use crate::calls;

/// Who waits for which runs. While anybody does, one task looks at all of them: with a look for each, hundreds of
/// waiting requests would keep the database busier than the runs that they wait for.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    state: Mutex<State>,
    /// There is a waiter for a run that was not looked at yet.
    news: Notify,
}

#[derive(Debug, Default)]
struct State {
    runs: HashMap<RunId, Waited>,
    is_driven: bool,
}

#[derive(Debug, Default)]
struct Waited {
    /// Its version of the flow, once it was looked at.
    flow: Option<Arc<str>>,
    askers: Vec<oneshot::Sender<Answer>>,
}

/// How a run ended, or why that is unknown.
type Answer = Result<RunStatus, ClientError>;

impl Waiting {
    /// The end of a run. If the answer never comes, because the runtime that looked is gone, ask again.
    pub(super) fn join(
        self: &Arc<Self>,
        backend: &Arc<dyn Backend>,
        run: RunId,
    ) -> oneshot::Receiver<Answer> {
        let (asker, answer) = oneshot::channel();
        let mut state = self.lock();
        let waited = state.runs.entry(run).or_default();
        waited.askers.push(asker);
        if waited.flow.is_none() {
            self.news.notify_one();
        }
        if !std::mem::replace(&mut state.is_driven, true) {
            calls::spawn(driver::drive(Arc::clone(self), Arc::clone(backend)));
        }
        answer
    }

    /// Runs that were not looked at yet.
    fn fresh(&self) -> Vec<RunId> {
        self.select(|waited| waited.flow.is_none())
    }

    /// Runs of flows that there are hints about, and those that were not looked at yet.
    fn hinted(&self, hinted: &hinted::Hinted) -> Vec<RunId> {
        self.select(|waited| waited.flow.as_ref().is_none_or(|flow| hinted.is_about(flow)))
    }

    /// Runs that have waiters.
    fn select(&self, is_asked: impl Fn(&Waited) -> bool) -> Vec<RunId> {
        let mut state = self.lock();
        state.runs.retain(|_, waited| {
            waited.askers.retain(|asker| !asker.is_closed());
            !waited.askers.is_empty()
        });
        state.runs.iter().filter(|(_, waited)| is_asked(waited)).map(|(run, _)| *run).collect()
    }

    /// Flows of runs that have waiters.
    fn flows(&self) -> HashSet<Arc<str>> {
        self.lock().runs.values().filter_map(|waited| waited.flow.clone()).collect()
    }

    /// Tells those who wait for these runs what was found.
    fn tell(&self, asked: &[RunId], found: Result<Vec<RunSummary>, BackendError>) {
        let mut state = self.lock();
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                for run in asked {
                    state.answer(*run, || Err(error.for_others().into()));
                }
                return;
            }
        };
        let mut missing: HashSet<RunId> = asked.iter().copied().collect();
        for run in found {
            missing.remove(&run.id);
            if run.status.has_ended() {
                state.answer(run.id, || Ok(run.status));
            } else if let Some(waited) = state.runs.get_mut(&run.id) {
                waited.flow.get_or_insert_with(|| run.flow.into());
            }
        }
        for run in missing {
            state.answer(run, || Err(ClientError::UnknownRun { run }));
        }
    }

    /// Whether there are no waiters any more. The next one then looks itself.
    fn is_over(&self) -> bool {
        let mut state = self.lock();
        state.is_driven = !state.runs.is_empty();
        !state.is_driven
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn answer(&mut self, run: RunId, answer: impl Fn() -> Answer) {
        for asker in self.runs.remove(&run).into_iter().flat_map(|waited| waited.askers) {
            // A waiter that is gone does not need it.
            let _ = asker.send(answer());
        }
    }
}
