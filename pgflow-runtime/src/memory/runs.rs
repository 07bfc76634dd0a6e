//! The beginning and the end of runs.

use std::sync::Arc;

use pgflow_machine::{NotLoaded, RunId, StartError, Turn};

use super::run::Run;
use super::store::Store;
use crate::backend::{BackendError, Cancelled, NewRun, Retried, Started};

impl Store {
    pub(super) fn start(&mut self, new: NewRun) -> Result<Started, BackendError> {
        if let Some(there) = self.runs.get(&new.id) {
            return is_of(there, &new.flow).then_some(Started::Existing).ok_or_else(|| {
                BackendError::OtherFlow { run: new.id, flow: there.version.flow.clone() }
            });
        }
        let version = self.current(&new.flow).map(Arc::clone);
        let version =
            version.ok_or_else(|| BackendError::UnknownFlow { flow: new.flow.clone() })?;
        let input = Arc::new(new.input);
        let (state, change) = Turn::start(&version.plan, Arc::clone(&input), &self.limits)
            .map_err(|error| refused(error, new.flow))?;
        let started_at = self.clock.now();
        let tasks = version.plan.steps().iter().map(|_| Vec::new()).collect();
        let run = Run {
            version,
            state,
            tasks,
            log: Vec::new(),
            input,
            output: None,
            started_at,
            ended_at: None,
            cancel_reason: None,
        };
        self.runs.insert(new.id, run);
        self.by_start.insert((started_at, new.id));
        self.apply(new.id, change);
        Ok(Started::Created)
    }

    pub(super) fn cancel(&mut self, id: RunId, reason: Option<&str>) -> Cancelled {
        let Some(is_new) = self.turn(id, |turn| turn.cancel(reason)) else {
            return Cancelled::Unknown;
        };
        let Some(run) = self.runs.get_mut(&id) else { return Cancelled::Unknown };
        if !is_new {
            return Cancelled::Ended(run.state.status);
        }
        run.cancel_reason = reason.map(str::to_owned);
        Cancelled::Cancelled
    }

    pub(super) fn retry(&mut self, id: RunId) -> Result<Retried, BackendError> {
        let Some(status) = self.runs.get(&id).map(|run| run.state.status) else {
            return Ok(Retried::Unknown);
        };
        #[expect(
            clippy::redundant_closure_for_method_calls,
            reason = "the method is not general enough"
        )]
        let had_failed = self.turn(id, |turn| turn.retry()).unwrap_or(Ok(false)).map_err(broken)?;
        Ok(if had_failed { Retried::Retried } else { Retried::NotFailed(status) })
    }
}

/// Whether a run is of the flow of this name, in any version.
fn is_of(run: &Run, flow: &str) -> bool {
    run.version.flow == flow || &**run.plan().slug() == flow
}

fn refused(error: StartError, flow: String) -> BackendError {
    match error {
        StartError::NotAnArray { found } => BackendError::NotAnArray { flow, found },
        StartError::TooWide(source) => {
            BackendError::Payload { what: "the run's input".to_owned(), source }
        }
        error => BackendError::Refused(error.into()),
    }
}

/// Everything is in memory: not to find something there is a mistake of ours.
pub(super) fn broken(error: NotLoaded) -> BackendError {
    BackendError::Refused(error.into())
}
