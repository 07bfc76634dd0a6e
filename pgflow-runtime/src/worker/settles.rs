//! Results that wait to be recorded.

use std::collections::BTreeMap;

use pgflow_machine::{Lease, Settle, Verdict};

/// Results are sent in batches of at most so many.
const BATCH: usize = 500;

/// Results that wait to be recorded. While one batch is on its way the next one gathers, so that batches
/// are large under load, and nothing waits when there is none.
#[derive(Debug, Default)]
pub(super) struct Settles {
    /// In the order in which databases lock.
    waiting: BTreeMap<Lease, Verdict>,
    /// A batch was refused: find out which one it is.
    one_by_one: usize,
    /// How many of them should have been recorded before.
    overdue: usize,
}

impl Settles {
    pub(super) fn push(&mut self, settle: Settle) {
        self.waiting.insert(settle.lease, settle.verdict);
    }

    pub(super) fn leases(&self) -> impl Iterator<Item = &Lease> {
        self.waiting.keys()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// The next batch.
    pub(super) fn take(&mut self) -> Vec<Settle> {
        let most = if self.one_by_one > 0 { 1 } else { BATCH };
        self.one_by_one = self.one_by_one.saturating_sub(1);
        let next = std::iter::from_fn(|| self.waiting.pop_first());
        next.take(most).map(|(lease, verdict)| Settle { lease, verdict }).collect()
    }

    /// Whether results wait because the database did not answer. Their leases may have run out meanwhile.
    pub(super) fn are_overdue(&self) -> bool {
        self.overdue > 0
    }

    /// So many were recorded or refused.
    pub(super) fn answered(&mut self, count: usize) {
        self.overdue = self.overdue.saturating_sub(count);
    }

    /// Nobody knows whether the batch was recorded: it is sent again.
    pub(super) fn again(&mut self, batch: Vec<Settle>) {
        for settle in batch {
            self.push(settle);
        }
        self.overdue = self.waiting.len();
    }

    /// The database refused the batch, and would refuse it again. Whatever is wrong with one of them must not
    /// keep the others; a single one becomes a failure that says so, and is given up if that is refused too.
    pub(super) fn refused(&mut self, mut batch: Vec<Settle>, why: &str) -> Option<Settle> {
        if batch.len() > 1 {
            self.one_by_one = batch.len();
            self.again(batch);
            return None;
        }
        let refused = batch.pop()?;
        if !matches!(refused.verdict, Verdict::Completed(_)) {
            return Some(refused);
        }
        let error = format!("the database refused the output: {why}");
        let verdict = Verdict::Failed { error, retry: pgflow_machine::Retry::Never };
        self.push(Settle { lease: refused.lease, verdict });
        None
    }
}

#[cfg(test)]
mod tests {
    use pgflow_machine::{RunId, TaskKey};
    use serde_json::Value;

    use super::*;

    fn settle(index: u32, verdict: Verdict) -> Settle {
        let run = RunId::from_key("flow", "run");
        Settle {
            lease: Lease { task: TaskKey { run, step: "step".into(), index }, attempt: 1 },
            verdict,
        }
    }

    fn indexes(batch: &[Settle]) -> Vec<u32> {
        batch.iter().map(|settle| settle.lease.task.index).collect()
    }

    fn three() -> Settles {
        let mut settles = Settles::default();
        for index in [2, 0, 1] {
            settles.push(settle(index, Verdict::Completed(Value::Null)));
        }
        settles
    }

    #[test]
    fn a_batch_is_in_order() {
        assert_eq!(indexes(&three().take()), [0, 1, 2]);
    }

    #[test]
    fn an_unknown_outcome_is_asked_for_again() {
        let mut settles = three();
        let batch = settles.take();
        assert!(settles.is_empty());
        settles.push(settle(7, Verdict::Released));
        settles.again(batch);
        assert!(settles.are_overdue());
        assert_eq!(indexes(&settles.take()), [0, 1, 2, 7]);
        settles.answered(4);
        assert!(!settles.are_overdue());
    }

    #[test]
    fn one_bad_result_does_not_keep_the_others() {
        let mut settles = three();
        let batch = settles.take();
        assert_eq!(settles.refused(batch, "too odd"), None);
        assert_eq!(indexes(&settles.take()), [0]);
        let bad = settles.take();
        assert_eq!(settles.refused(bad, "too odd"), None);
        assert_eq!(indexes(&settles.take()), [1], "as a failure, which may be recorded");
        let failed = vec![settle(1, Verdict::Released)];
        assert!(settles.refused(failed, "too odd").is_some(), "given up");
        assert_eq!(indexes(&settles.take()), [2]);
    }
}
