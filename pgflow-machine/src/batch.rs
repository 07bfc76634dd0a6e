//! The order within a batch.

use crate::{Settle, Verdict};

/// The order in which a batch of settles takes effect, as positions in it: completions, then failures, then what
/// was released, each by run, step and index.
///
/// Completions of one run take effect together: all their tasks are counted
/// ([`Turn::count_down`](crate::Turn::count_down)) before its steps are
/// finished with one [`Turn::finish`](crate::Turn::finish). If any output of the batch is a
/// [`Violation`](crate::Violation), completions take effect one by one instead. Failures always do.
///
/// ```
/// use pgflow_machine::{Lease, RunId, Settle, TaskKey, Verdict, settle_order};
///
/// let settle = |step: &str, verdict| Settle {
///     lease: Lease { task: TaskKey { run: RunId::from_key("f", "k"), step: step.into(), index: 0 }, attempt: 1 },
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
        let key = |at: &usize| (kind(&settles[*at].verdict), &settles[*at].lease.task);
        key(a).cmp(&key(b))
    });
    order
}

fn kind(verdict: &Verdict) -> u8 {
    match verdict {
        Verdict::Completed(_) => 0,
        Verdict::Failed { .. } => 1,
        Verdict::Released => 2,
    }
}
