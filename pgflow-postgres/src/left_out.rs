//! What a claim leaves out because it is large: outputs of dependencies, which are read page by page.

use pgflow_machine::TaskKey;
use serde_json::Value;

use super::engine::Lane;
use super::open::Postgres;
use pgflow_backend::backend::BackendError;

/// Under this name, which no step can have, a claim says of which steps; each with its kind.
const LEFT_OUT: &str = "pgflow:left_out";

impl Postgres {
    /// Puts what was left out into the input of a task.
    pub(super) async fn fill_in(
        &self,
        task: &TaskKey,
        input: &mut Value,
    ) -> Result<(), BackendError> {
        let Some(values) = input.as_object_mut() else { return Ok(()) };
        let Some(Value::Object(steps)) = values.remove(LEFT_OUT) else { return Ok(()) };
        for (step, kind) in steps {
            let output = self.whole_output(Lane::Worker, task.run, &step, kind == "map").await?;
            values.insert(step, output);
        }
        Ok(())
    }
}
