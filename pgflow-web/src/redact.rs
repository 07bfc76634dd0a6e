//! What people may not see.

use serde_json::Value;

use crate::options::Options;

/// Something that is about to be shown.
///
/// ```
/// use pgflow_web::{Options, PayloadKind};
///
/// // Outputs of one step are nobody's business; errors are cut.
/// let options = Options::new().redact(|payload| match payload.kind {
///     PayloadKind::Output if payload.step == Some("charge") => payload.value = "hidden".into(),
///     PayloadKind::Error => payload.value = "see the logs".into(),
///     _ => {}
/// });
/// # drop(options);
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Payload<'a> {
    /// Slug of the version of the flow; nothing for what belongs to a job.
    pub flow: &'a str,
    /// Slug of the step; nothing for what a run as a whole was given or has put out.
    pub step: Option<&'a str>,
    /// What the job needs, if it belongs to one.
    pub need: Option<&'a str>,
    /// What it is.
    pub kind: PayloadKind,
    /// What will be shown. An error message is a text.
    pub value: Value,
}

/// What a [`Payload`] is.
///
/// ```
/// assert_ne!(pgflow_web::PayloadKind::Input, pgflow_web::PayloadKind::Error);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PayloadKind {
    /// What a run, a task or a job was given.
    Input,
    /// What a run, a step, a task or a job has put out.
    Output,
    /// A piece of what a step says while it runs.
    Chunk,
    /// What an attempt failed with, why a run was cancelled, or what the trace of a job says.
    Error,
}

impl Options {
    /// A payload as people may see it.
    pub(crate) fn redacted(
        &self,
        flow: &str,
        step: Option<&str>,
        kind: PayloadKind,
        value: Value,
    ) -> Value {
        self.seen(Payload { flow, step, need: None, kind, value })
    }

    /// What belongs to a job, as people may see it.
    pub(crate) fn redacted_job(&self, need: &str, kind: PayloadKind, value: Value) -> Value {
        self.seen(Payload { flow: "", step: None, need: Some(need), kind, value })
    }

    /// What a job failed with, as people may see it.
    pub(crate) fn redacted_job_error(&self, need: &str, error: &str) -> String {
        as_text(self.redacted_job(need, PayloadKind::Error, error.into()))
    }

    fn seen(&self, mut payload: Payload<'_>) -> Value {
        if let Some(redact) = &self.redact {
            redact(&mut payload);
        }
        payload.value
    }

    /// An error message as people may see it.
    pub(crate) fn redacted_error(&self, flow: &str, step: Option<&str>, error: &str) -> String {
        as_text(self.redacted(flow, step, PayloadKind::Error, error.into()))
    }
}

fn as_text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}
