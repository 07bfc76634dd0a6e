//! What every attempt of a worker shares.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use pgflow_machine::{Limits, RunId};
use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;

use super::attempt::Done;
use crate::backend::{Backend, BackendError, Parts};
use crate::{Served, States};

/// Inputs of runs are kept for maps that take them; so many are enough, since tasks of a run come together.
const KEPT_INPUTS: usize = 64;

/// What every attempt of a worker shares.
#[derive(Debug)]
pub(super) struct Desk {
    pub(super) backend: Arc<dyn Backend>,
    pub(super) served: Vec<Served>,
    pub(super) states: States,
    pub(super) limits: Limits,
    pub(super) done: UnboundedSender<Done>,
    pub(super) inputs: Mutex<HashMap<RunId, Arc<Value>>>,
}

impl Desk {
    /// The code for a version of a flow.
    pub(super) fn served(&self, slug: &str) -> Option<Served> {
        self.served.iter().find(|served| served.slug() == slug).copied()
    }

    /// What a run was given: the task of a map does not bring it along.
    pub(super) async fn run_input(&self, run: RunId) -> Result<Arc<Value>, BackendError> {
        if let Some(input) = self.kept().get(&run) {
            return Ok(input.clone());
        }
        let record = self.backend.run(run, Parts::Run).await?;
        let input = Arc::new(record.map(|record| record.input).unwrap_or_default());
        let mut kept = self.kept();
        if kept.len() >= KEPT_INPUTS {
            kept.clear();
        }
        kept.insert(run, input.clone());
        Ok(input)
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, HashMap<RunId, Arc<Value>>> {
        self.inputs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
