//! Outputs that the database refuses.

use pgflow_machine::{Limits, PayloadError, Retry, Settle, Verdict, check_payload};
use serde_json::Value;

/// The same settles, where each of `positions` whose output can't be stored fails for good and says why.
/// Nothing if all of them can be, as far as we know.
pub(super) fn replace_unstorable(
    settles: &[Settle],
    positions: &[usize],
    limits: &Limits,
) -> Option<Vec<Settle>> {
    let mut replaced = None;
    for &position in positions {
        if let Verdict::Completed(output) = &settles[position].verdict
            && let Err(error) = check(output, limits)
        {
            let all = replaced.get_or_insert_with(|| settles.to_vec());
            let error = format!("cannot store the output: {error}");
            all[position].verdict = Verdict::Failed { error, retry: Retry::Never };
        }
    }
    replaced
}

/// Including what is only wrong in front of a map: the database has refused something, after all.
fn check(output: &Value, limits: &Limits) -> Result<(), PayloadError> {
    check_payload(output, limits)?;
    match output.as_array() {
        Some(all) if all.len() > limits.max_fanout => {
            Err(PayloadError::TooWide { elements: all.len(), limit: limits.max_fanout })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use pgflow_machine::{RunId, TaskKey, TaskLease};
    use serde_json::json;

    use super::*;

    fn completed(output: Value) -> Settle {
        let task = TaskKey { run: RunId::new(), step: "s".into(), index: 0 };
        Settle { lease: TaskLease { task, attempt: 1 }.into(), verdict: Verdict::Completed(output) }
    }

    #[test]
    fn only_what_cannot_be_stored_fails() {
        let limits = Limits { max_fanout: 3, ..Limits::default() };
        let settles = [json!("fine"), json!("a\0b"), json!([1, 2, 3, 4])].map(completed);
        let replaced = replace_unstorable(&settles, &[0, 1, 2], &limits).expect("two");
        assert_eq!(replaced[0], settles[0]);
        for settle in &replaced[1..] {
            assert!(matches!(settle.verdict, Verdict::Failed { retry: Retry::Never, .. }));
        }
        assert_eq!(replace_unstorable(&settles, &[0], &limits), None);
    }
}
