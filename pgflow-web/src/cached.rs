//! Graphs of versions, which never change.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use pgflow_model::FlowShape;
use pgflow_runtime::backend::{Backend, BackendError};

/// More versions than anybody has runs of at a time.
const MOST: usize = 256;

/// Graphs of versions that were looked at.
#[derive(Default)]
pub(crate) struct Shapes(Mutex<HashMap<String, Arc<FlowShape>>>);

impl Shapes {
    /// The graph of a version, if the database has it.
    pub(crate) async fn of(
        &self,
        backend: &dyn Backend,
        version: &str,
    ) -> Result<Option<Arc<FlowShape>>, BackendError> {
        if let Some(shape) = self.known(version) {
            return Ok(Some(shape));
        }
        let Some(definition) = backend.definition(version).await? else { return Ok(None) };
        let shape = Arc::new(definition.shape);
        let mut shapes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if shapes.len() >= MOST {
            shapes.clear();
        }
        shapes.insert(version.to_owned(), shape.clone());
        Ok(Some(shape))
    }

    fn known(&self, version: &str) -> Option<Arc<FlowShape>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(version).cloned()
    }
}
