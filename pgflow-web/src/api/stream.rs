//! What a step says, as server-sent events.

use std::convert::Infallible;

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::Sse;
use axum::response::sse::Event;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use futures_util::Stream;
use pgflow_machine::TaskKey;
use pgflow_machine::log::StreamKey;
use pgflow_runtime::ClientError;
use pgflow_runtime::backend::{PageSize, Parts, RunRecord, StreamPage};
use pgflow_runtime::client::{Chunks, Emitted};
use serde::Deserialize;
use serde_json::{Value, json};

use super::error::ApiError;
use super::sse::{Source, end, failed, last_event_id, no_text, run_of, sse};
use crate::PayloadKind;
use crate::app::App;

/// Which part of which stream.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    /// Of a map step, which element.
    #[serde(default)]
    index: u32,
    /// Only the last so many chunks, and those that follow.
    last: Option<u64>,
    /// What earlier attempts said, too.
    #[serde(default)]
    all: bool,
}

pub(super) async fn stream(
    State(app): State<App>,
    path: Result<Path<(String, String)>, PathRejection>,
    asked: Result<Query<Asked>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, ApiError> {
    let Path((id, step)) = path.map_err(no_text)?;
    let Query(asked) = asked.map_err(|wrong| ApiError::Wrong(wrong.body_text()))?;
    let seen = last_event_id(&headers)?;
    let run = run_of(&app, &id).await?;
    let task = TaskKey { run: run.id, step, index: asked.index };
    let stands = stands(&app, &task).await?;
    // Whoever has seen what was never said would be told nothing until it is.
    if let Some(seen) = seen.filter(|seen| *seen >= stands.next && !stands.is_over) {
        return Err(ApiError::Wrong(format!("the stream has no chunk {seen} yet")));
    }
    let (flow, step) = (run.flow, task.step.clone());
    let chunks = begun(app.db.stream_of_task(task), &asked, seen);
    Ok(sse(&app, Reader { app: app.clone(), flow, step, chunks, seen, is_over: false }))
}

/// Where the stream of a task stands.
async fn stands(app: &App, task: &TaskKey) -> Result<StreamPage, ApiError> {
    let (backend, key) = (app.db.backend(), StreamKey::Task(task.clone()));
    let found = backend.streams()?.read_stream(&key, 0, PageSize::NOTHING).await?;
    let unknown = || ApiError::NotFound(format!("the run has no step `{}`", task.step));
    let found = found.ok_or_else(unknown)?;
    if task.index > 0 && !may_be(backend.run(task.run, Parts::Steps).await?, task) {
        let TaskKey { step, index, .. } = task;
        return Err(ApiError::NotFound(format!("step `{step}` of the run has no task {index}")));
    }
    Ok(found)
}

/// Whether a run has this task, or may have it once its step starts.
fn may_be(run: Option<RunRecord>, task: &TaskKey) -> bool {
    let step = run.and_then(|run| run.steps.into_iter().find(|step| step.slug == task.step));
    step.is_some_and(|step| step.is_map && step.tasks.is_none_or(|tasks| task.index < tasks))
}

/// A client that comes back begins with what it has seen last: if that is no longer what counts, it is told so.
fn begun(chunks: Chunks<Vec<u8>>, asked: &Asked, seen: Option<u64>) -> Chunks<Vec<u8>> {
    let chunks = if asked.all { chunks.all() } else { chunks };
    match (seen, asked.last) {
        (Some(seen), _) => chunks.at(seen),
        (None, Some(many)) => chunks.last(many),
        (None, None) => chunks,
    }
}

/// A reader of a stream. All of a process share one look at the database.
struct Reader {
    app: App,
    flow: String,
    step: String,
    chunks: Chunks<Vec<u8>>,
    /// What the client has already.
    seen: Option<u64>,
    is_over: bool,
}

impl Source for Reader {
    async fn next(&mut self) -> Option<Event> {
        if self.is_over {
            return None;
        }
        loop {
            let event = match self.chunks.next().await {
                Some(Ok(Emitted::Chunk { number, .. })) if self.seen == Some(number) => continue,
                Some(Ok(Emitted::Chunk { number, value })) => self.chunk(number, value),
                Some(Ok(Emitted::Restarted { attempt })) => restarted(attempt),
                // A later version of the library may say more.
                Some(Ok(_)) => continue,
                Some(Err(ClientError::StreamFailed { reason, .. })) => {
                    self.is_over = true;
                    failed(&self.app.options.redacted_error(&self.flow, Some(&self.step), &reason))
                }
                // The client comes back, and goes on where it was.
                Some(Err(error)) => {
                    tracing::debug!(%error, "a stream cannot be read");
                    return None;
                }
                None => {
                    self.is_over = true;
                    end()
                }
            };
            return Some(event);
        }
    }
}

impl Reader {
    fn chunk(&self, number: u64, data: Vec<u8>) -> Event {
        let options = &self.app.options;
        let redact =
            |value| options.redacted(&self.flow, Some(&self.step), PayloadKind::Chunk, value);
        let redact: Option<&dyn Fn(Value) -> Value> =
            if options.redact.is_some() { Some(&redact) } else { None };
        let event = Event::default().id(number.to_string());
        match shown(data, redact) {
            Shown::Text(text) => event.data(text),
            Shown::Bytes(coded) => event.event("bytes").data(coded),
        }
    }
}

/// What is sent of a chunk.
#[derive(Debug, PartialEq, Eq)]
enum Shown {
    /// As it is.
    Text(String),
    /// In base64: the protocol has lines of text.
    Bytes(String),
}

fn shown(data: Vec<u8>, redact: Option<&dyn Fn(Value) -> Value>) -> Shown {
    let is_sent = |text: &String| redact.is_some() || !text.contains('\r');
    let bytes = match String::from_utf8(data) {
        Ok(text) if is_sent(&text) => {
            let Some(redact) = redact else { return Shown::Text(text) };
            let value = serde_json::from_str(&text).unwrap_or(text.into());
            return Shown::Text(redact(value).to_string());
        }
        Ok(text) => text.into_bytes(),
        Err(error) => error.into_bytes(),
    };
    let coded = BASE64_STANDARD.encode(bytes);
    match redact.map(|redact| redact(coded.as_str().into())) {
        Some(other) if other != coded => Shown::Text(other.to_string()),
        _ => Shown::Bytes(coded),
    }
}

fn restarted(attempt: u32) -> Event {
    Event::default().event("restarted").data(json!({ "attempt": attempt }).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chunk_is_redacted_also_one_that_is_no_text() {
        let hide = |_: Value| json!("hidden");
        let keep = |value: Value| value;
        let hidden = Shown::Text("\"hidden\"".into());
        for data in [&b"{\"card\": 4111}"[..], b"4111 and no JSON", b"a\rb", b"4111\xff"] {
            assert_eq!(shown(data.to_vec(), Some(&hide)), hidden, "{data:?}");
        }
        let bytes = Shown::Bytes("NDExMf8=".into());
        assert_eq!(shown(b"4111\xff".to_vec(), Some(&keep)), bytes);
        assert_eq!(shown(b"4111\xff".to_vec(), None), bytes);
    }

    #[test]
    fn text_is_sent_as_it_is() {
        assert_eq!(shown(b"[1,\n2]".to_vec(), None), Shown::Text("[1,\n2]".into()));
        assert_eq!(shown(b"a\rb".to_vec(), None), Shown::Bytes("YQ1i".into()));
    }
}
