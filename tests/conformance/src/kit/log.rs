//! Event logs as texts: a line per event.

use pgflow_machine::{Event, Happened, RunId};
use pgflow_runtime::backend::Backend;

/// The events of a run.
#[derive(Debug)]
pub(crate) struct Log(pub(crate) Vec<Event>);

impl Log {
    /// All of it, in pages, so that every check also uses the cursor.
    pub(crate) async fn read(backend: &dyn Backend, run: RunId) -> Self {
        Self::read_by(backend, run, 7).await
    }

    pub(crate) async fn read_by(backend: &dyn Backend, run: RunId, size: u32) -> Self {
        let mut events: Vec<Event> = Vec::new();
        loop {
            let after = events.last().map_or(0, |event| event.seq);
            let page = backend.events(run, after, size).await.expect("events can be read");
            if page.is_empty() {
                return Self(events);
            }
            let grew = page.iter().all(|event| event.seq > after);
            assert!(grew, "events after {after} of run {run} were {:?}", lines(&page));
            events.extend(page);
        }
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        lines(&self.0)
    }

    /// How many lines are exactly this.
    pub(crate) fn count(&self, wanted: &str) -> usize {
        self.0.iter().filter(|event| event.what.to_string() == wanted).count()
    }
}

pub(crate) fn lines(events: &[Event]) -> Vec<String> {
    events.iter().map(|event| line(&event.what)).collect()
}

/// Like `step:completed fetch [1, 2]`, without its time.
pub(crate) fn line(event: &Happened) -> String {
    let detail = match event {
        Happened::RunStarted { input } => Some(input.to_string()),
        Happened::RunCompleted { output } | Happened::StepCompleted { output, .. } => {
            Some(output.to_string())
        }
        Happened::RunFailed { error } => error.clone(),
        Happened::RunCancelled { reason } => reason.clone(),
        Happened::StepStarted { tasks, .. } => Some(tasks.to_string()),
        Happened::StepFailed { error, .. } => Some(error.clone()),
        Happened::StepSkipped { reason, error, .. } => {
            Some(error.as_ref().map_or(reason.to_string(), |error| format!("{reason} {error}")))
        }
        Happened::StepSignalDropped { index, path, message, .. } => {
            Some(format!("{index} {path} {message}"))
        }
        Happened::StepWaiting { index, on, .. } => Some(format!("{index} {on}")),
        Happened::StepSignalled { index, .. }
        | Happened::StepWoken { index, .. }
        | Happened::StepWaitTimedOut { index, .. } => Some(index.to_string()),
        _ => None,
    };
    detail.map_or(event.to_string(), |detail| format!("{event} {detail}"))
}
