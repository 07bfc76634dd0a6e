//! What all streams of events have in common.

use std::convert::Infallible;

use axum::extract::rejection::PathRejection;
use axum::http::{HeaderMap, HeaderName};
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use futures_util::stream::{Stream, unfold};
use pgflow_runtime::backend::RunSummary;
use serde_json::json;

use super::error::ApiError;
use crate::app::App;
use crate::pages::run_id;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Where a client that comes back has stopped.
pub(super) fn last_event_id(headers: &HeaderMap) -> Result<Option<u64>, ApiError> {
    let Some(id) = headers.get(LAST_EVENT_ID) else { return Ok(None) };
    let number = id.to_str().ok().and_then(|id| id.trim().parse().ok());
    let wrong =
        || ApiError::Wrong("`Last-Event-ID` is the number of an event that was read".into());
    number.map(Some).ok_or_else(wrong)
}

/// An address that is no text names nothing.
#[expect(clippy::needless_pass_by_value, reason = "as `map_err` gives it")]
pub(super) fn no_text(path: PathRejection) -> ApiError {
    ApiError::NotFound(path.body_text())
}

/// The run that a path names.
pub(super) async fn run_of(app: &App, id: &str) -> Result<RunSummary, ApiError> {
    let unknown = |why: String| ApiError::NotFound(why);
    let id = run_id(id).map_err(|error| unknown(error.to_string()))?;
    let found = app.db.backend().statuses(&[id]).await?.pop();
    found.ok_or_else(|| unknown(format!("there is no run {id}")))
}

/// Something that has events, one after the other, until it has none.
pub(super) trait Source: Send + 'static {
    fn next(&mut self) -> impl Future<Output = Option<Event>> + Send;
}

/// Sends all events of a source. When the client goes away, the source is dropped.
pub(super) fn sse<S: Source>(
    app: &App,
    source: S,
) -> Sse<impl Stream<Item = Result<Event, Infallible>> + use<S>> {
    let stop = app.options.stop.clone();
    let events = unfold((source, stop), async |(mut source, stop)| {
        let event = tokio::select! {
            event = source.next() => event?,
            () = stop.stopped() => return None,
        };
        Some((Ok(event), (source, stop)))
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(app.options.keep_alive))
}

/// Nothing follows: a client that would come back for more need not.
pub(super) fn end() -> Event {
    Event::default().event("end").data("{}")
}

/// Nothing follows, because of this.
pub(super) fn failed(reason: &str) -> Event {
    Event::default().event("failed").data(json!({ "reason": reason }).to_string())
}
