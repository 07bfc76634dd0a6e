//! Whether what the clock decides happens: schedules and waits.

use pgflow_runtime::backend::{Checkup, Severity, WaitQuery};
use pgflow_runtime::schedules::Schedule;
use pgflow_runtime::{Db, Timestamp};

use super::LATE;
use crate::database::spoken;
use crate::error::Error;

/// Waits that are looked at, the oldest first.
const WAITS: u32 = 1_000;

pub(super) async fn schedules(db: &Db, now: Timestamp, checkup: &mut Checkup) -> Result<(), Error> {
    for schedule in db.schedules().await? {
        broken(&schedule, checkup);
        late(&schedule, now, checkup);
    }
    Ok(())
}

pub(super) async fn waits(db: &Db, now: Timestamp, checkup: &mut Checkup) -> Result<(), Error> {
    let query = WaitQuery { max: WAITS, ..WaitQuery::default() };
    let waits = db.waits(&query).await?;
    let over = waits.iter().filter_map(|wait| Some(wait.until?.saturating_until(now)));
    let over: Vec<_> = over.filter(|age| *age > LATE).collect();
    if let Some(longest) = over.iter().max() {
        checkup.find(
            "wait-late",
            Severity::Error,
            format!(
                "{} tasks should have stopped waiting, the first {} ago, and nobody has let them go on",
                over.len(),
                spoken(*longest)
            ),
            "start a worker: any one lets tasks go on whose time has come",
        );
    }
    Ok(())
}

fn broken(schedule: &Schedule, checkup: &mut Checkup) {
    let Some(error) = &schedule.error else { return };
    checkup.find(
        "schedule-broken",
        Severity::Error,
        format!("schedule `{}` of flow `{}`: {error}", schedule.name, schedule.spec.flow),
        "make it anew with `pgflow schedule add`, or remove it with `pgflow schedule rm`",
    );
}

fn late(schedule: &Schedule, now: Timestamp, checkup: &mut Checkup) {
    let Some(age) = schedule.late_by(now).filter(|age| *age > LATE) else { return };
    checkup.find(
        "schedule-late",
        Severity::Error,
        format!(
            "schedule `{}` should have started a run of `{}` {} ago",
            schedule.name,
            schedule.spec.flow,
            spoken(age)
        ),
        "start a worker: any one does, and one that serves the flow where its source declares the schedule",
    );
}
