//! Server-sent events, as a program reads them.

use std::collections::VecDeque;

use axum::body::{Body, BodyDataStream};
use axum::http::Request;
use axum::{Router, response::Response};
use futures_util::StreamExt;
use tower::ServiceExt;

use crate::Outcome;

/// An event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseEvent {
    /// Empty if it has none.
    pub id: String,
    /// Its name; `message` if it has none.
    pub name: String,
    /// What it carries; lines are joined.
    pub data: String,
}

/// A stream of events that somebody listens to.
#[derive(Debug)]
pub struct Listening {
    body: BodyDataStream,
    unread: String,
    events: VecDeque<SseEvent>,
    /// How many comments came.
    pub comments: usize,
}

/// Asks an application for a path, with these headers.
pub async fn ask(app: &Router, path: &str, headers: &[(&str, &str)]) -> Outcome<Response> {
    let request =
        headers.iter().fold(Request::get(path), |it, (name, value)| it.header(*name, *value));
    Ok(app.clone().oneshot(request.body(Body::empty())?).await?)
}

/// Listens to a path; `last` is the id of the event that was read last.
pub async fn listen(app: &Router, path: &str, last: Option<&str>) -> Outcome<Listening> {
    let headers: Vec<_> = last.into_iter().map(|id| ("last-event-id", id)).collect();
    let response = ask(app, path, &headers).await?;
    if response.status() != 200 {
        let bytes = axum::body::to_bytes(response.into_body(), 1 << 20).await?;
        return Err(String::from_utf8_lossy(&bytes).into_owned().into());
    }
    if response.headers().get("content-type").is_none_or(|kind| kind != "text/event-stream") {
        return Err("these are no events".into());
    }
    Ok(Listening::new(response.into_body()))
}

impl Listening {
    /// To a body.
    pub fn new(body: Body) -> Self {
        let (unread, events) = (String::new(), VecDeque::new());
        Self { body: body.into_data_stream(), unread, events, comments: 0 }
    }

    /// The next event; nothing after the last.
    pub async fn next(&mut self) -> Outcome<Option<SseEvent>> {
        while self.events.is_empty() {
            let Some(part) = self.body.next().await else { return Ok(None) };
            self.take(std::str::from_utf8(&part?)?);
        }
        Ok(self.events.pop_front())
    }

    /// Waits until a comment came.
    pub async fn comment(&mut self) -> Outcome {
        while self.comments == 0 {
            let part = self.body.next().await.ok_or("it ended")??;
            self.take(std::str::from_utf8(&part)?);
        }
        Ok(())
    }

    /// All that follow, up to the end.
    pub async fn rest(&mut self) -> Outcome<Vec<SseEvent>> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await? {
            events.push(event);
        }
        Ok(events)
    }

    fn take(&mut self, text: &str) {
        self.unread.push_str(text);
        while let Some((block, rest)) = self.unread.split_once("\n\n") {
            let mut event = SseEvent { name: "message".to_owned(), ..SseEvent::default() };
            let mut data = Vec::new();
            for line in block.lines() {
                match line.split_once(':').map(|(name, value)| (name, value.trim_start())) {
                    Some(("", _)) => self.comments += 1,
                    Some(("id", id)) => id.clone_into(&mut event.id),
                    Some(("event", name)) => name.clone_into(&mut event.name),
                    Some(("data", line)) => data.push(line),
                    _ => {}
                }
            }
            event.data = data.join("\n");
            if !data.is_empty() {
                self.events.push_back(event);
            }
            self.unread = rest.to_owned();
        }
    }
}
