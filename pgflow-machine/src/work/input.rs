//! What claimed tasks work on.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::{Payload, Plan, RunId};

/// Payloads that the tasks of single steps are put together from, each loaded once however many tasks it goes to.
///
/// ```
/// use std::collections::HashMap;
///
/// use pgflow_machine::{InputParts, Payload, Plan, RunId};
/// use pgflow_model::{FlowShape, StepShape};
/// use serde_json::json;
///
/// let mut flow = FlowShape::new("orders");
/// flow.steps = vec![StepShape::new("pay"), StepShape::new("ship").after("pay")];
/// let (plan, run) = (Plan::new(&flow)?, RunId::from_key("orders", "7"));
/// let mut parts = InputParts::default();
/// parts.want(run, &plan, 1);
/// parts.load(HashMap::from([
///     ((run, Payload::RunInput), json!(7)),
///     ((run, Payload::StepOutput(0)), json!("paid")),
/// ]));
/// assert_eq!(parts.input(run, &plan, 1), json!({ "run": 7, "pay": "paid" }));
/// # Ok::<(), pgflow_machine::InvalidShape>(())
/// ```
#[derive(Debug, Default)]
pub struct InputParts {
    /// How many tasks want each.
    uses: HashMap<(RunId, Payload), u32>,
    values: HashMap<(RunId, Payload), Value>,
}

impl InputParts {
    /// Notes what a task of this single step works on.
    pub fn want(&mut self, run: RunId, plan: &Plan, step: usize) {
        for payload in payloads(plan, step) {
            *self.uses.entry((run, payload)).or_default() += 1;
        }
    }

    /// What is to be loaded.
    pub fn wanted(&self) -> Vec<(RunId, Payload)> {
        let mut wanted: Vec<_> = self.uses.keys().copied().collect();
        wanted.sort_unstable();
        wanted
    }

    /// Takes what was loaded.
    pub fn load(&mut self, values: HashMap<(RunId, Payload), Value>) {
        self.values = values;
    }

    /// An object with the run's input as `run`, and the outputs of completed dependencies by slug.
    pub fn input(&mut self, run: RunId, plan: &Plan, step: usize) -> Value {
        let mut fields = Map::new();
        for payload in payloads(plan, step) {
            let value = self.part(run, payload);
            match payload {
                Payload::StepOutput(dep) => {
                    // Without those that were skipped.
                    fields.extend(value.map(|value| (plan.step(dep).slug.to_string(), value)));
                }
                _ => drop(fields.insert("run".to_owned(), value.unwrap_or_default())),
            }
        }
        Value::Object(fields)
    }

    /// The last one who asks for a part gets it, the others a copy.
    fn part(&mut self, run: RunId, payload: Payload) -> Option<Value> {
        let uses = self.uses.entry((run, payload)).or_default();
        *uses = uses.saturating_sub(1);
        if *uses == 0 {
            return self.values.remove(&(run, payload));
        }
        self.values.get(&(run, payload)).cloned()
    }
}

fn payloads(plan: &Plan, step: usize) -> impl Iterator<Item = Payload> {
    let deps = plan.step(step).deps.iter().map(|dep| Payload::StepOutput(*dep));
    std::iter::once(Payload::RunInput).chain(deps)
}
