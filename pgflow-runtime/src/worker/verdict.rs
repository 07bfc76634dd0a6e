//! From what a handler did to what is recorded.

use std::any::Any;
use std::error::Error as StdError;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use pgflow_machine::{Limits, PayloadError, Retry as MachineRetry, Verdict, check_payload};
use pgflow_model::{OnSkip, StepKind};
use serde_json::Value;

use super::causes::causes;
use crate::{Error, FlowDef, Retry, StepDef};

/// Errors are cut after so many bytes: they are for people.
const LONGEST_ERROR: usize = 8 << 10;

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
        Value::Array(elements) if is_mapped_over && elements.len() > limits.max_fanout => {
            Err(PayloadError::TooWide { elements: elements.len(), limit: limits.max_fanout })
        }
        _ => Ok(()),
    }
}

/// The handler's own error.
pub(super) fn failed(error: &Error, step: &StepDef) -> Verdict {
    let text = chain(error.as_source());
    match error.retry() {
        Retry::Later => Verdict::Failed { error: text, retry: MachineRetry::ByPolicy },
        Retry::After(delay) => Verdict::Failed { error: text, retry: MachineRetry::After(delay) },
        Retry::Never => Verdict::Failed { error: text, retry: MachineRetry::Never },
        Retry::Skip => Verdict::Failed { error: skipped(text, step), retry: MachineRetry::Never },
    }
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
pub(super) fn timed_out(timeout: Duration) -> Verdict {
    let error = format!("timed out: the handler was aborted after {} s", timeout.as_secs_f64());
    Verdict::Failed { error, retry: MachineRetry::ByPolicy }
}

/// A handler that panicked.
pub(super) fn panicked(panic: Box<dyn Any + Send>) -> Verdict {
    Verdict::Failed { error: tidy(&panic_text(panic)), retry: MachineRetry::ByPolicy }
}

/// A handler that left neither a result nor a panic.
pub(super) fn vanished() -> Verdict {
    let error = "the handler ended without a result: its task was dropped".to_owned();
    Verdict::Failed { error, retry: MachineRetry::ByPolicy }
}

/// What a panic says.
pub(super) fn panic_text(panic: Box<dyn Any + Send>) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    // It may be anything, even something that panics when it is dropped.
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        std::mem::forget(again);
    }
    text.map_or_else(|| "panicked".to_owned(), |text| format!("panicked: {text}"))
}

/// An error with what caused it, unless its text says so already.
fn chain(error: &(dyn StdError + 'static)) -> String {
    let mut text = error.to_string();
    for cause in causes(error) {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
    }
    tidy(&text)
}

/// A text that every database can keep.
pub(super) fn tidy(text: &str) -> String {
    let mut text = text.replace('\0', "\u{fffd}");
    if text.len() > LONGEST_ERROR {
        let end = (0..=LONGEST_ERROR).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
    text
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
    fn errors_can_be_stored() {
        let long = format!("a\0b{}", "é".repeat(LONGEST_ERROR));
        let tidied = tidy(&long);
        assert!(tidied.starts_with("a\u{fffd}b") && tidied.ends_with('…'));
        assert!(tidied.len() <= LONGEST_ERROR + 3);
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
