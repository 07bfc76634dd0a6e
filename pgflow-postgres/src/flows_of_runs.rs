//! Which flow a run belongs to, for hints about runs that were settled.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pgflow_machine::RunId;

/// Runs per generation.
const MANY: usize = 16_384;

/// Remembers the runs that were seen last, between one and two times [`MANY`] of them.
#[derive(Default)]
pub(super) struct FlowsOfRuns(Mutex<Generations>);

#[derive(Default)]
struct Generations {
    young: HashMap<RunId, Arc<str>>,
    old: HashMap<RunId, Arc<str>>,
    /// One text per flow.
    flows: HashSet<Arc<str>>,
}

impl FlowsOfRuns {
    /// A run of this version of a flow was seen.
    pub(super) fn learn(&self, run: RunId, flow: &str) -> Arc<str> {
        let mut seen = self.lock();
        let flow = match seen.flows.get(flow) {
            Some(known) => Arc::clone(known),
            None => Arc::from(flow),
        };
        seen.flows.insert(Arc::clone(&flow));
        seen.young.insert(run, Arc::clone(&flow));
        if seen.young.len() >= MANY {
            seen.old = std::mem::take(&mut seen.young);
        }
        flow
    }

    /// The version of a flow that a run belongs to, if that was seen not too long ago.
    pub(super) fn of(&self, run: RunId) -> Option<Arc<str>> {
        let seen = self.lock();
        seen.young.get(&run).or_else(|| seen.old.get(&run)).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, Generations> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembers_what_was_seen_last_and_not_all() {
        let seen = FlowsOfRuns::default();
        let first = RunId::new();
        seen.learn(first, "shop");
        for _ in 1..MANY {
            seen.learn(RunId::new(), "shop");
        }
        assert_eq!(seen.of(first).as_deref(), Some("shop"));
        for _ in 0..=MANY {
            seen.learn(RunId::new(), "shop");
        }
        assert_eq!(seen.of(first), None);
        let seen = seen.lock();
        assert!(seen.young.len() + seen.old.len() <= 2 * MANY);
        assert_eq!(seen.flows.len(), 1);
    }
}
