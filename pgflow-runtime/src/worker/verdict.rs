//! What is recorded of an attempt that did not come to an end of its own.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use pgflow_machine::{Retry, Verdict};

/// Errors are cut after so many bytes: they are for people.
pub(crate) const LONGEST_ERROR: usize = 8 << 10;

/// A handler that took too long, and cannot be aborted.
pub(crate) fn blocked(timeout: Duration) -> Verdict {
    let seconds = timeout.as_secs_f64();
    let error = format!(
        "timed out after {seconds} s: the handler blocks its thread and cannot be aborted; use `tokio::task::spawn_blocking`"
    );
    Verdict::Failed { error, retry: Retry::ByPolicy }
}

/// A handler that panicked.
pub(crate) fn panicked(panic: Box<dyn Any + Send>) -> Verdict {
    Verdict::Failed { error: tidy(&panic_text(panic)), retry: Retry::ByPolicy }
}

/// What a panic says.
pub(crate) fn panic_text(panic: Box<dyn Any + Send>) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    // It may be anything, even something that panics when it is dropped.
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        std::mem::forget(again);
    }
    text.map_or_else(|| "panicked".to_owned(), |text| format!("panicked: {text}"))
}

/// A text that every database can keep.
pub(crate) fn tidy(text: &str) -> String {
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
    use super::*;

    #[test]
    fn errors_can_be_stored() {
        let long = format!("a\0b{}", "é".repeat(LONGEST_ERROR));
        let tidied = tidy(&long);
        assert!(tidied.starts_with("a\u{fffd}b") && tidied.ends_with('…'));
        assert!(tidied.len() <= LONGEST_ERROR + 3);
    }
}
