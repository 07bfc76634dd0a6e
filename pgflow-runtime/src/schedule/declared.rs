//! Schedules in the source of flows.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pgflow_machine::Limits;
use pgflow_machine::schedule::{Origin, Put, Schedule, ScheduleSpec};
use pgflow_model::with_causes;
use serde_json::Value;

use super::ticker;
use crate::backend::NewSchedule;
use crate::client::{ClientError, input_of};
use crate::db::{Db, program};
use crate::worker::{panic_text, tidy};
use crate::{DataError, FlowDef, ScheduleDef};

/// Makes the input of a run.
pub(super) type Make = fn() -> Result<Value, DataError>;

/// What it makes for a flow, or why that is nothing: it is the program's own code, and nothing else is to suffer from what it does.
pub(super) fn made(flow: &FlowDef, make: Make, limits: &Limits) -> Result<Value, String> {
    let caught = catch_unwind(AssertUnwindSafe(make)).map_err(panic_text);
    let checked = |made| input_of(flow, made, limits).map_err(|error| with_causes(&error));
    caught.and_then(checked).map_err(|why| format!("no input for its runs: {}", tidy(&why)))
}

/// Flows with schedules that this program has.
#[derive(Debug, Default)]
pub(crate) struct Declared(Mutex<BTreeMap<&'static str, &'static FlowDef>>);

impl Declared {
    pub(crate) fn learn(&self, flow: &'static FlowDef) {
        if flow.schedule.is_some() {
            self.flows().insert(flow.slug, flow);
        }
    }

    /// Their names.
    pub(crate) fn names(&self) -> Vec<String> {
        self.flows().keys().map(|&name| name.to_owned()).collect()
    }

    /// What makes the inputs of a schedule's runs, if the source of a flow does.
    pub(crate) fn maker(&self, schedule: &Schedule) -> Option<(&'static FlowDef, Make)> {
        let flow = *self.flows().get(&*schedule.spec.flow)?;
        let is_declared = schedule.spec.origin == Origin::Source;
        flow.schedule.filter(|_| is_declared).map(|def| (flow, def.input))
    }

    fn flows(&self) -> MutexGuard<'_, BTreeMap<&'static str, &'static FlowDef>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes the database's schedules those that these flows declare: changed where they changed, removed where they declare none any
/// more. Those that somebody made at run time are left alone, and one that is paused stays so.
pub(crate) async fn register(db: &Db, flows: &[&'static FlowDef]) -> Result<(), ClientError> {
    let declared: Vec<_> = flows.iter().filter_map(|flow| Some((*flow, flow.schedule?))).collect();
    for (flow, schedule) in declared {
        db.declared().learn(flow);
        put(db, flow, schedule).await?;
    }
    // Nothing that a worker does depends on it: a database whose schema is older has no schedules.
    if let Err(error) = remove(db, flows).await {
        tracing::warn!(%error, "cannot look for schedules that flows do not declare any more");
    }
    Ok(())
}

/// Removes those that flows have declared, and do not any more.
async fn remove(db: &Db, flows: &[&'static FlowDef]) -> Result<(), ClientError> {
    let known = db.schedules().await?;
    let is_known = |flow: &FlowDef| {
        known.iter().any(|it| it.name == flow.slug && it.spec.origin == Origin::Source)
    };
    for flow in flows.iter().filter(|flow| flow.schedule.is_none() && is_known(flow)) {
        db.backend().schedules()?.remove_schedule(flow.slug, Some(Origin::Source)).await?;
        tracing::info!(schedule = flow.slug, "schedule removed: its flow declares none any more");
    }
    Ok(())
}

async fn put(db: &Db, flow: &'static FlowDef, def: ScheduleDef) -> Result<(), ClientError> {
    let made = made(flow, def.input, &db.limits().await?);
    let input = match &made {
        Ok(input) => input.clone(),
        Err(_) => known_input(db, flow).await?,
    };
    let word = |error: pgflow_machine::schedule::InvalidPolicy| ClientError::Policy(error);
    let spec = ScheduleSpec {
        compiled_for: Some(program(flow)),
        input,
        zone: def.timezone.to_owned(),
        missed: def.missed.parse().map_err(word)?,
        overlap: def.overlap.parse().map_err(word)?,
        origin: Origin::Source,
        ..ScheduleSpec::new(flow.slug, def.cron)
    };
    let put = db.put_schedule(NewSchedule::new(flow.slug, spec)).await?;
    if put != Put::Unchanged {
        tracing::info!(
            schedule = flow.slug,
            cron = def.cron,
            timezone = def.timezone,
            "schedule registered"
        );
    }
    if let Err(why) = made {
        tracing::error!(schedule = flow.slug, "{why}");
        if let Some(schedule) = db.find_schedule(flow.slug).await? {
            ticker::say(db.backend().schedules()?, &schedule, &why).await;
        }
    }
    Ok(())
}

/// What was made when a worker started last, for those who cannot make it: nothing, if none has.
async fn known_input(db: &Db, flow: &FlowDef) -> Result<Value, ClientError> {
    let known = db.find_schedule(flow.slug).await?;
    let known = known.filter(|schedule| schedule.spec.origin == Origin::Source);
    Ok(known.map_or(Value::Null, |schedule| schedule.spec.input))
}
