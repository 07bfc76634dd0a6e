//! The order within a batch.

use std::collections::HashMap;

use crate::{Lease, Settle, TaskKey, Until, Verdict};

/// The order in which a batch of settles takes effect, as positions in it: completions, then failures, then what
/// was released, then what waits, each by run, step and index.
///
/// Completions of one run take effect together: all their tasks are counted
/// ([`Turn::count_down`](crate::Turn::count_down)) before its steps are
/// finished with one [`Turn::finish`](crate::Turn::finish). If any output of the batch is a
/// [`Violation`](crate::Violation), completions take effect one by one instead. Failures always do.
///
/// ```
/// use pgflow_machine::{RunId, Settle, TaskKey, TaskLease, Verdict, settle_order};
///
/// let settle = |step: &str, verdict| Settle {
///     lease: TaskLease { task: TaskKey { run: RunId::from_key("f", "k"), step: step.into(), index: 0 }, attempt: 1 }.into(),
///     verdict,
/// };
/// let batch = [
///     settle("a", Verdict::Released),
///     settle("c", Verdict::Completed(1.into())),
///     settle("b", Verdict::Completed(1.into())),
/// ];
/// assert_eq!(settle_order(&batch), [2, 1, 0]);
/// ```
pub fn settle_order(settles: &[Settle]) -> Vec<usize> {
    let mut order: Vec<_> = (0..settles.len()).collect();
    order.sort_by(|a, b| {
        let key = |at: &usize| (kind(&settles[*at].verdict), work(&settles[*at].lease));
        key(a).cmp(&key(b))
    });
    order
}

/// The rounds in which a batch takes effect, each a [`settle_order`] of its own. Almost always there is one: only
/// a task that is named again, as when a worker lost it and got it back, is settled again in a later round, when it is
/// known what became of the first. Outcomes tell of the state after their round.
///
/// ```
/// use pgflow_machine::{RunId, Settle, TaskKey, TaskLease, Verdict, settle_rounds};
///
/// let settle = |index, attempt| Settle {
///     lease: TaskLease { task: TaskKey { run: RunId::from_key("f", "k"), step: "a".into(), index }, attempt }.into(),
///     verdict: Verdict::Released,
/// };
/// assert_eq!(settle_rounds(&[settle(1, 1), settle(0, 1), settle(1, 2)]), [vec![1, 0], vec![2]]);
/// ```
pub fn settle_rounds(settles: &[Settle]) -> Vec<Vec<usize>> {
    let mut named: HashMap<Option<&TaskKey>, usize> = HashMap::with_capacity(settles.len());
    let count = |settle| {
        let times = named.entry(settle).or_default();
        *times += 1;
        *times - 1
    };
    let round_of: Vec<_> = settles.iter().map(|settle| work(&settle.lease)).map(count).collect();
    let mut rounds: Vec<Vec<_>> = Vec::new();
    for at in settle_order(settles) {
        if rounds.len() <= round_of[at] {
            rounds.resize(round_of[at] + 1, Vec::new());
        }
        rounds[round_of[at]].push(at);
    }
    rounds
}

fn work(lease: &Lease) -> Option<&TaskKey> {
    lease.task().map(|lease| &lease.task)
}

fn kind(verdict: &Verdict) -> u8 {
    match verdict {
        Verdict::Completed(_) => 0,
        Verdict::Failed { .. } => 1,
        Verdict::Yielded { until: Until::Met(_), .. } => 3,
        Verdict::Released | Verdict::Yielded { .. } | Verdict::Job(_) | Verdict::Messages(_) => 2,
    }
}
