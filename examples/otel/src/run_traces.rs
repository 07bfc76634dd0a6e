//! The id of a run as the id of its trace.
//!
//! A worker names it in the field `trace.id` of the span `run`. OpenTelemetry asks for an id when it meets the first
//! span of a trace, on the thread that has just made it.

use std::cell::Cell;
use std::fmt;

use opentelemetry::trace::{SpanId, TraceId};
use opentelemetry_sdk::trace::{IdGenerator, RandomIdGenerator};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

thread_local! {
    /// The trace of the run whose span was made last, until somebody asks for it.
    static NEXT: Cell<Option<TraceId>> = const { Cell::new(None) };
}

/// Remembers the trace of each run that a span is made for.
pub(crate) struct RunTraces;

impl<S: tracing::Subscriber> Layer<S> for RunTraces {
    fn on_new_span(&self, attributes: &Attributes<'_>, _: &Id, _: Context<'_, S>) {
        if attributes.metadata().name() == "run" {
            attributes.record(&mut TraceField);
        }
    }
}

/// Looks for the field.
struct TraceField;

impl Visit for TraceField {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "trace.id" {
            NEXT.set(TraceId::from_hex(&format!("{value:?}")).ok());
        }
    }
}

/// Gives out the trace of the run, and random ids for everything else.
#[derive(Debug, Default)]
pub(crate) struct RunIds(RandomIdGenerator);

impl IdGenerator for RunIds {
    fn new_trace_id(&self) -> TraceId {
        NEXT.take().unwrap_or_else(|| self.0.new_trace_id())
    }

    fn new_span_id(&self) -> SpanId {
        self.0.new_span_id()
    }
}
