//! From what a handler did to what is recorded.

use std::time::Duration;

use pgflow_machine::{Limits, PayloadError, Retry as MachineRetry, Until, Verdict, check_payload};
use pgflow_model::{OnSkip, StepKind, with_causes};
use serde_json::Value;

use crate::worker::tidy;
use crate::{DataError, Error, FlowDef, Retry, StepDef};

/// The output is recorded, unless no database can keep it. Trying again would give the same output.
pub(super) fn completed(output: Value, flow: &FlowDef, step: &StepDef, limits: &Limits) -> Verdict {
    match check(&output, flow, step, limits) {
        Ok(()) => Verdict::Completed(output),
        Err(why) => {
            let error = format!("cannot store the output of step `{}`: {why}", step.slug);
            Verdict::Failed { error: tidy(&error), retry: MachineRetry::Never }
        }
    }
}

fn check(
    output: &Value,
    flow: &FlowDef,
    step: &StepDef,
    limits: &Limits,
) -> Result<(), PayloadError> {
    check_payload(output, limits)?;
    let is_mapped_over = step.kind == StepKind::Single
        && flow
            .steps
            .iter()
            .any(|next| next.kind == StepKind::Map && next.depends_on.first() == Some(&step.slug));
    match output {
        Value::Array(elements) if is_mapped_over => limits.check_fanout(elements.len()).map(drop),
        _ => Ok(()),
    }
}

/// The handler's own error.
pub(super) fn failed(error: &Error, step: &StepDef) -> Verdict {
    let text = tidy(&with_causes(error.as_source()));
    match error.retry() {
        Retry::Later => Verdict::Failed { error: text, retry: MachineRetry::ByPolicy },
        Retry::After(delay) => Verdict::Failed { error: text, retry: MachineRetry::After(delay) },
        Retry::Never => Verdict::Failed { error: text, retry: MachineRetry::Never },
        Retry::Skip => Verdict::Failed { error: skipped(text, step), retry: MachineRetry::Never },
    }
}

/// How long a task waits that no program can read, at first and at most. It doubles in between.
const HOLD: (Duration, Duration) = (Duration::from_secs(5), Duration::from_mins(5));

/// Stored data that this program's types cannot read: another version may, so that the run waits instead
/// of failing, and no attempt is used up.
pub(super) fn unreadable(why: &DataError, attempt: u32) -> Verdict {
    let after = HOLD.0 * 2_u32.pow(attempt.saturating_sub(1).min(10));
    let until = Until::After(after.min(HOLD.1));
    Verdict::Yielded { until, reason: tidy(&with_causes(why)) }
}

fn skipped(text: String, step: &StepDef) -> String {
    if step.when_exhausted == OnSkip::Fail {
        return tidy(&format!(
            "{text} (step `{}` asked to be skipped, which its `when_exhausted = fail` does not allow)",
            step.slug
        ));
    }
    text
}

/// A handler that took too long.
pub(super) fn timed_out(within: Duration, timeout: Duration) -> Verdict {
    let mut error = format!("timed out: the handler was aborted after {} s", within.as_secs_f64());
    if within < timeout {
        error.push_str(
            ", because it kept the write lock of the database file (`SqliteOptions::longest_tx`)",
        );
    }
    Verdict::Failed { error, retry: MachineRetry::ByPolicy }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const STEP: StepDef = StepDef { slug: "pay", ..StepDef::PLAIN };
    const MAYBE: StepDef = StepDef { slug: "pay", when_exhausted: OnSkip::Skip, ..StepDef::PLAIN };

    fn parts(verdict: Verdict) -> (String, MachineRetry) {
        match verdict {
            Verdict::Failed { error, retry } => (error, retry),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_a_step_says_about_trying_again_is_heard() {
        let delay = Duration::from_secs(7);
        let cases = [
            (Error::from("a"), MachineRetry::ByPolicy),
            (Error::retry_after(delay, "a"), MachineRetry::After(delay)),
            (Error::fatal("a"), MachineRetry::Never),
            (Error::skip("a"), MachineRetry::Never),
        ];
        for (error, retry) in cases {
            assert_eq!(parts(failed(&error, &MAYBE)), ("a".to_owned(), retry));
        }
    }

    #[test]
    fn a_step_that_cannot_be_skipped_says_so() {
        let (error, _) = parts(failed(&Error::skip("nothing to do"), &STEP));
        assert_eq!(
            error,
            "nothing to do (step `pay` asked to be skipped, which its `when_exhausted = fail` does not allow)"
        );
    }

    #[test]
    fn causes_are_told_once() {
        #[derive(Debug, thiserror::Error)]
        #[error("cannot pay")]
        struct Outer(#[source] std::num::ParseIntError);
        let cause = "x".parse::<u8>().unwrap_err();
        let (error, _) = parts(failed(&Error::from(Outer(cause)), &STEP));
        assert_eq!(error, "cannot pay: invalid digit found in string");
    }

    #[test]
    fn an_output_that_no_database_keeps_fails_for_good() {
        const MAP: StepDef =
            StepDef { slug: "each", kind: StepKind::Map, depends_on: &["pay"], ..StepDef::PLAIN };
        let flow = FlowDef { steps: &[STEP, MAP], ..FlowDef::PLAIN };
        let limits = Limits { max_fanout: 2, ..Limits::default() };
        assert_eq!(
            completed(json!([1, 2]), &flow, &STEP, &limits),
            Verdict::Completed(json!([1, 2]))
        );
        for output in [json!([1, 2, 3]), json!({ "a": "b\0" })] {
            let (error, retry) = parts(completed(output, &flow, &STEP, &limits));
            assert!(error.starts_with("cannot store the output of step `pay`: "), "{error}");
            assert_eq!(retry, MachineRetry::Never);
        }
    }
}
