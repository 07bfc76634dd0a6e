//! Whether what the clock decides happens: schedules and waits.

use pgflow_runtime::backend::{Checkup, Severity};
use pgflow_runtime::schedules::Schedule;
use pgflow_runtime::{Db, Timestamp};

use super::LATE;
use crate::database::spoken;
use crate::error::Error;

/// Waits that are counted, of those that nobody has ended in time.
const WAITS: u32 = 1_000;

pub(super) async fn schedules(db: &Db, now: Timestamp, checkup: &mut Checkup) -> Result<(), Error> {
    for schedule in db.schedules().await? {
        broken(&schedule, checkup);
        late(&schedule, now, checkup);
    }
    Ok(())
}

pub(super) async fn waits(db: &Db, checkup: &mut Checkup) -> Result<(), Error> {
    let late = db.late_waits(LATE, WAITS).await?;
    if let Some(longest) = late.longest {
        let or_more = if late.waits >= WAITS.into() { " or more" } else { "" };
        checkup.find(
            "wait-late",
            Severity::Error,
            format!(
                "{}{or_more} tasks should have stopped waiting, the first {} ago, and nobody has let them go on",
                late.waits,
                spoken(longest)
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
