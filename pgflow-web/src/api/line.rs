//! An event of a log as JSON.

use std::sync::Arc;

use pgflow_runtime::{Event, Happened};
use serde_json::Value;

use crate::PayloadKind;
use crate::html::time;
use crate::options::Options;

/// An event as it is sent.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) seq: u64,
    pub(super) json: Arc<str>,
}

impl Line {
    /// Payloads and errors are as people may see them.
    pub(super) fn new(options: &Options, flow: &str, event: &Event) -> Self {
        let mut json = serde_json::to_value(event).unwrap_or_default();
        json["at"] = time::iso(event.at).into();
        if let Happened::StepWaiting { until, .. } = &event.what {
            json["until"] = until.map(time::iso).into();
        }
        let step = event.what.step();
        for (name, kind) in [
            ("input", PayloadKind::Input),
            ("output", PayloadKind::Output),
            ("error", PayloadKind::Error),
        ] {
            if let Some(value) = json.get_mut(name).filter(|value| !value.is_null()) {
                *value = options.redacted(flow, step, kind, value.take());
            }
        }
        // Why a step was skipped is one of our own words; why a run was cancelled is somebody's text.
        if let (None, Some(Value::String(reason))) = (step, json.get("reason")) {
            json["reason"] = options.redacted_error(flow, None, reason).into();
        }
        Self { seq: event.seq, json: json.to_string().into() }
    }
}
