//! What every attempt at a task shares.

use std::sync::Arc;

use pgflow_machine::{Limits, RunId};
use serde_json::Value;

use super::run_inputs::RunInputs;
use crate::backend::{Backend, BackendError};
use crate::calls;
use crate::worker::excuses::Excuses;
use crate::{Served, States};

/// What every attempt at a task shares.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) backend: Arc<dyn Backend>,
    pub(super) served: Vec<Served>,
    pub(super) states: States,
    pub(super) limits: Limits,
    pub(super) inputs: RunInputs,
    pub(super) excuses: Excuses,
}

impl Shared {
    /// The code for a version of a flow.
    pub(super) fn served(&self, slug: &str) -> Option<Served> {
        self.served.iter().find(|served| served.slug() == slug).copied()
    }

    /// What a run was given: the task of a map does not bring it along.
    pub(super) async fn run_input(&self, run: RunId) -> Result<Arc<Value>, BackendError> {
        let read = calls::apart(&self.backend, move |backend| backend.input(run));
        self.inputs.of(run, || Box::pin(read)).await
    }
}
