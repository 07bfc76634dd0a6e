//! Graphs of versions, which do not change while a run of theirs is there.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use pgflow_model::FlowShape;
use pgflow_runtime::Timestamp;
use pgflow_runtime::backend::{Backend, BackendError, RunRecord};

/// More versions than anybody has runs of at a time.
const MOST: usize = 256;

/// Graphs of versions that were looked at, each with when the newest of the runs began that it was read for.
#[derive(Default)]
pub(crate) struct Shapes(Mutex<HashMap<String, (Timestamp, Arc<FlowShape>)>>);

impl Shapes {
    /// The graph of a run's version, if the database has it.
    pub(crate) async fn of(
        &self,
        backend: &dyn Backend,
        run: &RunRecord,
    ) -> Result<Option<Arc<FlowShape>>, BackendError> {
        let version = &*run.flow;
        if let Some(shape) = self.known(run) {
            return Ok(Some(shape));
        }
        let Some(definition) = backend.definition(version).await? else { return Ok(None) };
        let shape = Arc::new(definition.shape);
        let mut shapes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if shapes.len() >= MOST {
            shapes.clear();
        }
        shapes.insert(version.to_owned(), (run.started_at, shape.clone()));
        Ok(Some(shape))
    }

    /// Who deletes a flow deletes its runs, and may make another of the same name: what was read for a run is so for older ones.
    fn known(&self, run: &RunRecord) -> Option<Arc<FlowShape>> {
        let shapes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (newest, shape) = shapes.get(&run.flow)?;
        (run.started_at <= *newest).then(|| shape.clone())
    }
}
