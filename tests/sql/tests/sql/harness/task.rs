//! A task as a worker gets it.

use serde_json::Value;
use uuid::Uuid;

#[derive(Debug, Clone)]
pub(crate) struct Task {
    pub(crate) flow: String,
    pub(crate) run: Uuid,
    pub(crate) step: String,
    pub(crate) index: i64,
    pub(crate) input: Value,
    pub(crate) message: i64,
    pub(crate) attempt: i64,
}

impl Task {
    /// Reads a `step_task_record` as JSON.
    pub(crate) fn parse(text: &str) -> Self {
        let record: Value = serde_json::from_str(text).expect("JSON");
        let string = |key: &str| record[key].as_str().expect(key).to_owned();
        let number = |key: &str| record[key].as_i64().expect(key);
        Self {
            flow: string("flow_slug"),
            run: Uuid::parse_str(&string("run_id")).expect("a run id"),
            step: string("step_slug"),
            index: number("task_index"),
            input: record["input"].clone(),
            message: number("msg_id"),
            attempt: number("attempt"),
        }
    }

    /// `step#index`.
    pub(crate) fn name(&self) -> String {
        format!("{}#{}", self.step, self.index)
    }
}
