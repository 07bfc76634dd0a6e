//! Waiting for ends: one look for all who wait in a process.

mod awaited;
mod driver;
mod hinted;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, timeout_at};

pub(super) use awaited::statuses;
pub(crate) use awaited::{Awaited, JobEnds, RunEnds, Seen};

use super::ClientError;
use crate::backend::{Backend, BackendError};
use crate::calls;

/// Who waits for which runs, or for which jobs. While anybody does, one task looks at all of them: with a look for each, hundreds
/// of waiting requests would keep the database busier than the work that they wait for.
#[derive(Debug)]
pub(crate) struct Waiting<A: Awaited> {
    state: Mutex<State<A>>,
    /// There is a waiter for something that was not looked at yet.
    news: Notify,
}

#[derive(Debug)]
struct State<A: Awaited> {
    waited: HashMap<A::Id, Waited<A>>,
    is_driven: bool,
}

#[derive(Debug)]
struct Waited<A: Awaited> {
    /// It was looked at.
    is_seen: bool,
    /// What hints about it are about, if there are any.
    topic: Option<Arc<str>>,
    askers: Vec<oneshot::Sender<Answer<A>>>,
}

/// How something ended, or why that is unknown.
type Answer<A> = Result<<A as Awaited>::End, ClientError>;

impl<A: Awaited> Default for Waiting<A> {
    fn default() -> Self {
        Self { state: Mutex::default(), news: Notify::new() }
    }
}

impl<A: Awaited> Default for State<A> {
    fn default() -> Self {
        Self { waited: HashMap::new(), is_driven: false }
    }
}

impl<A: Awaited> Waiting<A> {
    /// The end of this, unless it takes longer: then `None`.
    pub(super) async fn ended(
        self: &Arc<Self>,
        backend: &Arc<dyn Backend>,
        id: &A::Id,
        until: Option<Instant>,
    ) -> Result<Option<A::End>, ClientError> {
        loop {
            let answer = self.join(backend, id);
            let told = match until {
                Some(until) => timeout_at(until, answer).await,
                None => Ok(answer.await),
            };
            match told {
                Ok(Ok(end)) => return end.map(Some),
                // The task that looked for all is gone with its runtime.
                Ok(Err(_)) => {}
                Err(_) => return Ok(None),
            }
        }
    }

    /// The end of this. If the answer never comes, because the runtime that looked is gone, ask again.
    fn join(
        self: &Arc<Self>,
        backend: &Arc<dyn Backend>,
        id: &A::Id,
    ) -> oneshot::Receiver<Answer<A>> {
        let (asker, answer) = oneshot::channel();
        let mut state = self.lock();
        let new = || Waited { is_seen: false, topic: None, askers: Vec::new() };
        let waited = state.waited.entry(id.clone()).or_insert_with(new);
        waited.askers.push(asker);
        if !waited.is_seen {
            self.news.notify_one();
        }
        if !std::mem::replace(&mut state.is_driven, true) {
            calls::spawn(driver::drive(Arc::clone(self), Arc::clone(backend)));
        }
        answer
    }

    /// What was not looked at yet.
    fn fresh(&self) -> Vec<A::Id> {
        self.select(|waited| !waited.is_seen)
    }

    /// What there are hints about, and what was not looked at yet.
    fn hinted(&self, hinted: &hinted::Hinted) -> Vec<A::Id> {
        self.select(|waited| !waited.is_seen || hinted.is_about(waited.topic.as_ref()))
    }

    /// What has waiters.
    fn select(&self, is_asked: impl Fn(&Waited<A>) -> bool) -> Vec<A::Id> {
        let mut state = self.lock();
        state.waited.retain(|_, waited| {
            waited.askers.retain(|asker| !asker.is_closed());
            !waited.askers.is_empty()
        });
        let asked = state.waited.iter().filter(|(_, waited)| is_asked(waited));
        asked.map(|(id, _)| id.clone()).collect()
    }

    /// What hints may be about.
    fn topics(&self) -> HashSet<Arc<str>> {
        self.lock().waited.values().filter_map(|waited| waited.topic.clone()).collect()
    }

    /// Tells those who wait for these what was found.
    fn tell(&self, asked: &[A::Id], found: Result<Vec<Seen<A>>, BackendError>) {
        let mut state = self.lock();
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                for id in asked {
                    state.answer(id, || Err(error.for_others().into()));
                }
                return;
            }
        };
        let mut missing: HashSet<&A::Id> = asked.iter().collect();
        for Seen { id, end, topic } in found {
            missing.remove(&id);
            if let Some(end) = end {
                state.answer(&id, || Ok(end));
            } else if let Some(waited) = state.waited.get_mut(&id) {
                waited.is_seen = true;
                waited.topic = topic;
            }
        }
        for id in missing {
            state.answer(id, || Err(A::unknown(id)));
        }
    }

    /// Whether there are no waiters any more. The next one then looks itself.
    fn is_over(&self) -> bool {
        let mut state = self.lock();
        state.is_driven = !state.waited.is_empty();
        !state.is_driven
    }

    fn lock(&self) -> MutexGuard<'_, State<A>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<A: Awaited> State<A> {
    fn answer(&mut self, id: &A::Id, answer: impl Fn() -> Answer<A>) {
        for asker in self.waited.remove(id).into_iter().flat_map(|waited| waited.askers) {
            // A waiter that is gone does not need it.
            let _ = asker.send(answer());
        }
    }
}
