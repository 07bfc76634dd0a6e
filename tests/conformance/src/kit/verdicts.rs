//! Ends of attempts.

use std::time::Duration;

use pgflow_machine::{Retry, Until, Verdict};
use serde_json::Value;

pub(crate) const RELEASED: Verdict = Verdict::Released;

pub(crate) fn yielded(reason: &str, after: Duration) -> Verdict {
    Verdict::Yielded { until: Until::After(after), reason: reason.into() }
}

pub(crate) fn completed(output: impl Into<Value>) -> Verdict {
    Verdict::Completed(output.into())
}

pub(crate) fn failed(error: &str) -> Verdict {
    Verdict::Failed { error: error.into(), retry: Retry::ByPolicy }
}

pub(crate) fn later(error: &str, delay: Duration) -> Verdict {
    Verdict::Failed { error: error.into(), retry: Retry::After(delay) }
}

pub(crate) fn fatal(error: &str) -> Verdict {
    Verdict::Failed { error: error.into(), retry: Retry::Never }
}
