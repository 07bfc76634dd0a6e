//! Regions as they change, sent as server-sent events.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::http::{HeaderMap, HeaderName};
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use axum::routing::get;
use futures_util::stream::{Stream, unfold};
use serde::Deserialize;
use tokio::sync::watch::Receiver;

use super::topic::Topic;
use super::{Frame, Hub};
use crate::app::App;
use crate::error::PageError;
use crate::pages::{JobView, job_id, run_id};
use crate::request::{Asked, Path, Query};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/live/runs/{id}", get(run))
        .route("/live/job", get(job))
        .route("/live/overview", get(overview))
}

/// What a listener that did not listen before has on its page.
#[derive(Debug, Deserialize)]
struct Seen {
    seen: Option<String>,
}

async fn run(
    asked: Asked,
    Path(id): Path<String>,
    Query(seen): Query<Seen>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, PageError> {
    let id = run_id(&id)?;
    let found = asked.app.db.backend().statuses(&[id]).await?;
    if found.is_empty() {
        return Err(PageError::NotFound(format!("there is no run {id}")));
    }
    Ok(stream(&asked.app, Topic::Run(id), seen, &headers))
}

/// Which job.
#[derive(Debug, Deserialize)]
struct Named {
    #[serde(default)]
    id: String,
}

async fn job(
    asked: Asked,
    Query(named): Query<Named>,
    Query(seen): Query<Seen>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, PageError> {
    let id = job_id(&named.id)?;
    JobView::read(&asked.app, &id).await?;
    Ok(stream(&asked.app, Topic::Job(id), seen, &headers))
}

async fn overview(
    asked: Asked,
    Query(seen): Query<Seen>,
    headers: HeaderMap,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    stream(&asked.app, Topic::Overview(asked.base.clone()), seen, &headers)
}

fn stream(
    app: &App,
    topic: Topic,
    Seen { seen }: Seen,
    headers: &HeaderMap,
) -> Sse<impl Stream<Item = Result<Event, Infallible>> + use<>> {
    let last = headers.get(LAST_EVENT_ID).and_then(|id| id.to_str().ok()).map(str::to_owned);
    let listener = Listener {
        app: app.clone(),
        frames: Hub::listen(app, topic),
        seen: last.or(seen).unwrap_or_default(),
        is_over: false,
    };
    let events = unfold(listener, async |mut listener| {
        let event = listener.next().await?;
        Some((Ok(event), listener))
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(app.options.keep_alive))
}

struct Listener {
    app: App,
    frames: Receiver<Option<Arc<Frame>>>,
    /// The id of what it has.
    seen: String,
    is_over: bool,
}

impl Listener {
    /// The next event: a region that it does not have, or the word that nothing follows.
    async fn next(&mut self) -> Option<Event> {
        while !self.is_over {
            let newest = self.frames.borrow_and_update().clone();
            if let Some(frame) = newest.filter(|frame| frame.is_last || frame.id != self.seen) {
                let is_new = frame.id != self.seen;
                self.is_over = !is_new;
                self.seen.clone_from(&frame.id);
                return Some(if is_new { region(&frame) } else { end() });
            }
            tokio::select! {
                changed = self.frames.changed() => changed.ok()?,
                () = self.app.options.stop.stopped() => return None,
            }
        }
        None
    }
}

fn region(frame: &Frame) -> Event {
    Event::default().id(&frame.id).event("region").data(&frame.html)
}

/// The browser closes the connection then, and does not open another.
fn end() -> Event {
    Event::default().event("end").data("")
}
