//! Waits as the objects that the core takes.

use pgflow_machine::job::Moment;
use pgflow_machine::wait::{Awaited, NewChild, NewWait};
use pgflow_machine::{Limits, TaskLease, check_payload, whole_seconds};
use serde_json::{Value, json};
use sqlx::types::Json;

use crate::batch::Leases;
use crate::engine::Statement;
use crate::jobs::fork;
use crate::moment::micros_of;
use crate::streams::micros;

/// Attempts that end by waiting, as columns.
#[derive(Default)]
pub(crate) struct WaitColumns<'a> {
    pub(crate) leases: Leases<'a>,
    waits: Vec<Json<Value>>,
}

impl<'a> WaitColumns<'a> {
    /// Refuses what can't be sent at all, in words; the core looks at the rest.
    pub(crate) fn push(&mut self, lease: &'a TaskLease, wait: &NewWait) -> Result<(), String> {
        check(wait)?;
        self.leases.push(lease);
        self.waits.push(Json(object(wait)));
        Ok(())
    }

    /// Run, step, index, attempt, wait.
    pub(crate) fn bind<'q>(&'q self, statement: Statement<'q>) -> Statement<'q> {
        self.leases.bind(statement).bind(&self.waits)
    }
}

fn check(wait: &NewWait) -> Result<(), String> {
    wait.check().map_err(|too_much| too_much.to_string())?;
    let any = Limits { max_bytes: usize::MAX, max_depth: usize::MAX, max_fanout: usize::MAX };
    match &wait.on {
        Awaited::Runs { children, .. } => children.iter().try_for_each(|child| {
            let checked = check_payload(&child.input, &any);
            checked.map_err(|error| format!("cannot store the input of a child: {error}"))
        }),
        Awaited::Jobs { jobs, .. } => {
            jobs.iter().try_for_each(|job| job.check(&any).map_err(|problem| problem.to_string()))
        }
        Awaited::Hook(_) | Awaited::Sleep(_) => Ok(()),
    }
}

fn object(wait: &NewWait) -> Value {
    let mut object = what(&wait.on);
    if !matches!(wait.on, Awaited::Sleep(_)) {
        object["timeout"] = json!(wait.timeout.map(whole_seconds));
        object["schema"] = json!(wait.schema);
    }
    if let Awaited::Runs { .. } | Awaited::Jobs { .. } = wait.on {
        object["outcomes"] = json!(wait.outcomes);
        object["detached"] = json!(wait.detached);
    }
    object
}

fn what(on: &Awaited) -> Value {
    let kind = on.kind().word();
    match on {
        Awaited::Hook(token) => json!({ "on": kind, "token": token.as_str() }),
        Awaited::Sleep(Moment::In(delay)) => json!({ "on": kind, "for": micros(*delay) }),
        Awaited::Sleep(Moment::At(at)) => json!({ "on": kind, "at": micros_of(*at) }),
        Awaited::Runs { children, each } => {
            json!({ "on": kind, "each": each, "children": children.iter().map(child).collect::<Vec<_>>() })
        }
        Awaited::Jobs { jobs, each } => {
            json!({ "on": kind, "each": each, "children": jobs.iter().map(fork).collect::<Vec<_>>() })
        }
    }
}

fn child(new: &NewChild) -> Value {
    let program = new.compiled_for.as_deref();
    json!({
        "flow": new.flow,
        "input": new.input,
        "versions": program.map(|program| &program.versions),
        "interface": program.and_then(|program| program.interface.as_deref()),
    })
}
