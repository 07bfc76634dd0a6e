//! The log of a run, as server-sent events.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Sse;
use axum::response::sse::Event;
use futures_util::Stream;
use pgflow_runtime::RunId;
use pgflow_runtime::backend::BackendError;
use tokio::sync::watch::Receiver;

use super::error::ApiError;
use super::feed::{Feed, Feeds, Known};
use super::line::Line;
use super::sse::{Source, end, last_event_id, run_of, sse};
use crate::app::App;

/// Events that a reader holds.
const PAGE: u32 = 64;

pub(super) async fn events(
    State(app): State<App>,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, ApiError> {
    let Path(id) = path.map_err(|wrong| ApiError::Wrong(wrong.body_text()))?;
    let run = run_of(&app, &id).await?;
    let after = last_event_id(&headers)?.unwrap_or(0);
    // Whoever waits for what never comes would wait for ever.
    if after > 0 && app.db.backend().events(run.id, after - 1, 1).await?.is_empty() {
        return Err(ApiError::Wrong(format!("the run has no event {after} yet")));
    }
    let (run, flow) = (run.id, run.flow);
    let reader = Reader {
        app: app.clone(),
        run,
        flow,
        after,
        lines: VecDeque::new(),
        feed: None,
        is_over: false,
    };
    Ok(sse(&app, reader))
}

/// A reader of a log: page by page up to its end, from there on together with all others.
struct Reader {
    app: App,
    run: RunId,
    flow: String,
    /// The number of the last event that it has.
    after: u64,
    lines: VecDeque<Line>,
    feed: Option<(Arc<Feed>, Receiver<u64>)>,
    is_over: bool,
}

impl Source for Reader {
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(Line { seq, json }) = self.lines.pop_front() {
                self.after = seq;
                return Some(Event::default().id(seq.to_string()).data(json));
            }
            if self.is_over {
                return None;
            }
            match self.look().await {
                Ok(Some(event)) => {
                    self.is_over = true;
                    return Some(event);
                }
                Ok(None) => {}
                // The client comes back, and goes on where it was.
                Err(error) => {
                    tracing::debug!(%error, "events cannot be read");
                    return None;
                }
            }
        }
    }
}

impl Reader {
    /// Finds more events, or the end of all.
    async fn look(&mut self) -> Result<Option<Event>, BackendError> {
        let Some((feed, news)) = &mut self.feed else {
            let page = self.page().await?;
            if page < PAGE as usize {
                self.feed =
                    Some(Feeds::join(&self.app, self.run, &self.flow, self.after + page as u64));
            }
            return Ok(None);
        };
        news.mark_unchanged();
        match feed.after(self.after, PAGE as usize) {
            Known::Lines(lines) => self.lines = lines,
            Known::Older => {
                self.page().await?;
            }
            Known::Newest => _ = news.changed().await,
            Known::Over => return Ok(Some(end())),
            Known::Lost(error) => return Err(BackendError::Unreachable(error.to_string().into())),
        }
        Ok(None)
    }

    /// Reads for itself; how many events there were.
    async fn page(&mut self) -> Result<usize, BackendError> {
        let (app, run, after) = (self.app.clone(), self.run, self.after);
        // A client that goes away must not break it off in the middle.
        let read = tokio::spawn(async move { app.db.backend().events(run, after, PAGE).await });
        let events =
            read.await.unwrap_or_else(|error| Err(BackendError::Unreachable(error.into())))?;
        let line = |event| Line::new(&self.app.options, &self.flow, event);
        self.lines = events.iter().map(line).collect();
        Ok(self.lines.len())
    }
}
