//! What must come out of a flow, whatever the order in which its tasks are done.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::json::contains;
use super::model::{Flow, Mode, Step};
use crate::harness::Run;

#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    Completed(Value),
    Skipped,
    /// Skipped, and so is everything below.
    Cascaded,
    Failed,
    /// Behind a failed step.
    Unreached,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Completed,
    Failed,
}

#[derive(Debug)]
pub(super) struct Foreseen {
    pub(super) ending: Ending,
    states: BTreeMap<String, State>,
    output: Option<Value>,
}

pub(super) fn foresee(flow: &Flow) -> Foreseen {
    let mut states: Vec<State> = Vec::new();
    for index in 0..flow.steps.len() {
        states.push(state(flow, index, &states));
    }
    let failed = states.contains(&State::Failed);
    let output = run_output(flow, &states);
    let slugs = flow.steps.iter().map(|step| step.slug.clone());
    Foreseen {
        ending: if failed { Ending::Failed } else { Ending::Completed },
        states: slugs.zip(states).collect(),
        output,
    }
}

fn state(flow: &Flow, index: usize, before: &[State]) -> State {
    let step = &flow.steps[index];
    let deps = || step.deps.iter().map(|dep| &before[*dep]);
    // A cascade reaches what waits for a step that will never run, too.
    if deps().any(|dep| *dep == State::Cascaded) {
        return State::Cascaded;
    }
    if deps().any(|dep| matches!(dep, State::Failed | State::Unreached)) {
        return State::Unreached;
    }
    if !is_met(flow, step, before) {
        return unhappy(step.when_unmet);
    }
    work(flow, index, before)
}

fn unhappy(mode: Mode) -> State {
    match mode {
        Mode::Fail => State::Failed,
        Mode::Skip => State::Skipped,
        Mode::SkipCascade => State::Cascaded,
    }
}

fn is_met(flow: &Flow, step: &Step, before: &[State]) -> bool {
    let value = if step.deps.is_empty() { flow.input.clone() } else { outputs(flow, step, before) };
    step.required.as_ref().is_none_or(|part| contains(&value, part))
        && step.forbidden.as_ref().is_none_or(|part| !contains(&value, part))
}

/// `{dep: output}` over completed dependencies.
fn outputs(flow: &Flow, step: &Step, before: &[State]) -> Value {
    let mut outputs = serde_json::Map::new();
    for dep in &step.deps {
        if let State::Completed(output) = &before[*dep] {
            outputs.insert(flow.steps[*dep].slug.clone(), output.clone());
        }
    }
    Value::Object(outputs)
}

fn work(flow: &Flow, index: usize, before: &[State]) -> State {
    let step = &flow.steps[index];
    let inputs = if step.is_map {
        elements(flow, step, before)
    } else {
        let mut input = outputs(flow, step, before);
        input["run"] = flow.input.clone();
        vec![input]
    };
    if step.is_exhausted() && !inputs.is_empty() {
        return unhappy(step.when_exhausted);
    }
    let mut outputs: Vec<_> = inputs.iter().map(|input| step.output(input)).collect();
    if step.is_map {
        return State::Completed(Value::Array(outputs));
    }
    let output = outputs.remove(0);
    if flow.feeds_map(index) && !output.is_array() {
        State::Failed
    } else {
        State::Completed(output)
    }
}

fn elements(flow: &Flow, step: &Step, before: &[State]) -> Vec<Value> {
    let source = match step.deps.first().map(|dep| &before[*dep]) {
        None => &flow.input,
        Some(State::Completed(output)) => output,
        Some(_) => &json!([]),
    };
    source.as_array().expect("a map has an array").clone()
}

fn run_output(flow: &Flow, states: &[State]) -> Option<Value> {
    let is_leaf = |index: usize| !flow.steps.iter().any(|step| step.deps.contains(&index));
    let mut output = serde_json::Map::new();
    for (index, state) in states.iter().enumerate().filter(|(index, _)| is_leaf(*index)) {
        if let State::Completed(value) = state {
            output.insert(flow.steps[index].slug.clone(), value.clone());
        }
    }
    (!output.is_empty()).then_some(Value::Object(output))
}

impl Foreseen {
    pub(super) fn skips(&self) -> bool {
        self.states.values().any(|state| matches!(state, State::Skipped | State::Cascaded))
    }

    pub(super) async fn assert_is(&self, run: &Run<'_>) {
        let status = run.status().await;
        match self.ending {
            // Which steps got how far depends on the order of the tasks.
            Ending::Failed => assert_eq!(status, "failed"),
            Ending::Completed => {
                assert_eq!(status, "completed");
                let output = self.output.as_ref().map_or("NULL".to_owned(), Value::to_string);
                assert_eq!(parse(&run.get("output").await), parse(&output));
            }
        }
        for (slug, state) in &self.states {
            self.assert_step(run, slug, state).await;
        }
    }

    async fn assert_step(&self, run: &Run<'_>, slug: &str, state: &State) {
        let row = run.step(slug, "status, output").await;
        let (status, output) = row.split_once('|').expect("two columns");
        if status == "completed" {
            let State::Completed(expected) = state else {
                panic!("{slug} completed, {state:?} foreseen")
            };
            assert_eq!(parse(output).as_ref(), Some(expected), "{slug}");
        } else if self.ending == Ending::Completed {
            assert_eq!(status, "skipped", "{slug}: {state:?} foreseen");
            assert!(
                matches!(state, State::Skipped | State::Cascaded),
                "{slug}: {state:?} foreseen"
            );
        }
    }
}

fn parse(text: &str) -> Option<Value> {
    (text != "NULL").then(|| serde_json::from_str(text).expect("JSON"))
}
