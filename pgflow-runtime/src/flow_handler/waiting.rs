//! From what a step waits for to what is recorded of it.

use std::time::Duration;

use pgflow_machine::wait::{Awaited, NewChild, NewWait, TooMuch};
use pgflow_machine::{Limits, PayloadError, Retry, Until, Verdict, check_payload};
use serde_json::Value;

use crate::db::program;
use crate::schema::answer_schema;
use crate::wait::{On, Wait};
use crate::worker::tidy;
use crate::{FlowDef, StepDef};

/// The task waits, unless no database can keep what it waits for. Trying again would give the same.
pub(super) fn verdict(wait: Wait, step: &StepDef, limits: &Limits) -> Verdict {
    let reason = format!("waits {}", wait.on);
    match new_wait(wait, step, limits) {
        Ok(wait) => Verdict::Yielded { until: Until::Met(Box::new(wait)), reason },
        Err(why) => {
            let error = format!("cannot store what step `{}` waits for: {why}", step.slug);
            Verdict::Failed { error: tidy(&error), retry: Retry::Never }
        }
    }
}

/// Why no database can keep what a step waits for.
#[derive(Debug, thiserror::Error)]
enum Unstorable {
    #[error(transparent)]
    Payload(#[from] PayloadError),
    #[error(transparent)]
    TooMuch(#[from] TooMuch),
}

fn new_wait(wait: Wait, step: &StepDef, limits: &Limits) -> Result<NewWait, Unstorable> {
    let Wait { on, outcomes, detached } = wait;
    let timeout = step.options.wait_timeout.map(|seconds| Duration::from_secs(seconds.into()));
    // A run puts out what its flow says. Answers, jobs and how a run ended may be what this program does not know.
    let is_untyped = outcomes || matches!(on, On::Hook(_) | On::Jobs { .. });
    let schema = is_untyped.then(|| answer_schema(step)).flatten();
    let on = match on {
        On::Hook(token) => Awaited::Hook(token),
        On::Sleep(moment) => Awaited::Sleep(moment),
        On::Runs { flow, inputs, each } => {
            Awaited::Runs { children: children(flow, inputs, limits)?, each }
        }
        On::Jobs { jobs, each } => {
            jobs.iter().try_for_each(|job| check_payload(&job.payload, limits))?;
            Awaited::Jobs { jobs, each }
        }
    };
    let wait = NewWait { on, timeout, schema, outcomes, detached };
    wait.check()?;
    Ok(wait)
}

fn children(
    flow: &'static FlowDef,
    inputs: Vec<Value>,
    limits: &Limits,
) -> Result<Vec<NewChild>, PayloadError> {
    let compiled_for = program(flow);
    let child = |input: Value| {
        check_payload(&input, limits)?;
        let (flow, compiled_for) = (flow.slug.to_owned(), Some(compiled_for.clone()));
        Ok(NewChild { flow, compiled_for, input })
    };
    inputs.into_iter().map(child).collect()
}
