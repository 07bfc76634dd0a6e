//! Making, changing and ending schedules.

use std::sync::Arc;

use super::{
    Origin, Schedule, ScheduleNeeds, ScheduleProblem, ScheduleRows, ScheduleSpec, ScheduleStatus,
    ScheduleWrites, Schedules,
};
use crate::job::{MOMENTS, check_name};
use crate::{Catalog, Command, NewRun, Refusal, RunId, Timestamp};

/// Makes a schedule, or changes the one of this name. One that is paused stays so.
#[derive(Clone, Debug)]
pub struct PutSchedule<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it starts, and when.
    pub spec: &'a ScheduleSpec,
    /// Not before this moment, which must not be over.
    pub begins: Option<Timestamp>,
    /// Its first moment, if the caller knows it: then it need not be found out.
    pub first_at: Option<Timestamp>,
    /// The versions that there are.
    pub catalog: Arc<Catalog>,
}

/// What can be said of a new schedule without the database.
///
/// ```
/// use pgflow_machine::schedule::{Missed, ScheduleSpec, check_schedule};
///
/// let spec = ScheduleSpec { missed: Missed::All(0), ..ScheduleSpec::new("report", "@daily") };
/// let problem = check_schedule("nightly", &spec, [None; 2]).unwrap_err();
/// assert_eq!(problem.to_string(), "`all(0)` is not one of `skip`, `last` and `all(1)` to `all(1000)`");
/// ```
pub fn check_schedule(
    name: &str,
    spec: &ScheduleSpec,
    moments: [Option<Timestamp>; 2],
) -> Result<(), ScheduleProblem> {
    check_name(name).map_err(ScheduleProblem::Name)?;
    spec.missed.check()?;
    let is_late = |moment: &Timestamp| moment.micros() > *MOMENTS.end();
    match moments.into_iter().flatten().find(is_late) {
        Some(begins) => Err(ScheduleProblem::BeginsTooLate { begins }),
        None => Ok(()),
    }
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// There was none of this name.
    Created,
    /// There was another one.
    Replaced,
    /// There was the same one.
    Unchanged,
}

impl PutSchedule<'_> {
    fn check(&self, there: Option<&Schedule>, now: Timestamp) -> Result<(), ScheduleProblem> {
        check_schedule(self.name, self.spec, [self.begins, self.first_at])?;
        if let Some(begins) = self.begins.or(self.first_at).filter(|begins| *begins < now) {
            return Err(ScheduleProblem::BeginsInThePast { begins, now });
        }
        let by = there.map(|there| there.spec.origin);
        match by.filter(|by| *by != self.spec.origin) {
            Some(by) => Err(ScheduleProblem::Taken { by }),
            None => Ok(()),
        }
    }

    fn put(&self, rows: &mut ScheduleRows, now: Timestamp) -> Put {
        let is_begun_anew = self.begins.is_some() || self.first_at.is_some();
        let (mut schedule, put) = match rows.schedule.take() {
            None => (Schedule::new(self.name, self.spec.clone(), now), Put::Created),
            // A program that reads what another could not has it work again.
            Some(there)
                if there.spec == *self.spec
                    && !is_begun_anew
                    && there.status != ScheduleStatus::Broken =>
            {
                rows.schedule = Some(there);
                return Put::Unchanged;
            }
            Some(mut there) => {
                if !there.spec.happens_like(self.spec) || there.status == ScheduleStatus::Broken {
                    there.begin(now);
                }
                (there.spec, there.is_unreadable) = (self.spec.clone(), false);
                there.revision += 1;
                (there, Put::Replaced)
            }
        };
        if is_begun_anew {
            let first = self.first_at.or(self.begins).unwrap_or(now);
            // That very moment counts too.
            schedule.begin(Timestamp::from_micros(first.micros().saturating_sub(1)));
        }
        if let Some(first_at) = self.first_at {
            (schedule.status, schedule.next_at) = (ScheduleStatus::Active, Some(first_at));
        }
        rows.schedule = Some(schedule);
        put
    }
}

impl Command<Schedules> for PutSchedule<'_> {
    type Answer = Result<Put, ScheduleProblem>;

    fn needs(&self) -> ScheduleNeeds {
        ScheduleNeeds { name: self.name.to_owned() }
    }

    fn decide(
        &self,
        rows: &mut ScheduleRows,
        now: Timestamp,
    ) -> Result<(Self::Answer, ScheduleWrites), Refusal> {
        if let Err(problem) = self.check(rows.schedule.as_ref(), now) {
            return Ok((Err(problem), ScheduleWrites::default()));
        }
        let compiled_for = self.spec.compiled_for.clone();
        let run =
            NewRun { compiled_for, ..NewRun::new(&*self.spec.flow, (), RunId::from_key("", "")) };
        self.catalog.to_start(&run)?;
        let put = self.put(rows, now);
        let schedule = put != Put::Unchanged;
        Ok((Ok(put), ScheduleWrites { schedule, starts: Vec::new() }))
    }
}

/// Keeps a schedule from starting runs, or lets it start them again: moments that came meanwhile are not made up for.
#[derive(Clone, Copy, Debug)]
pub struct PauseSchedule<'a> {
    /// Which.
    pub name: &'a str,
    /// Whether it is to be paused.
    pub pause: bool,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paused {
    /// It is as wanted now.
    Now,
    /// It was before.
    Before,
    /// There is no such schedule.
    Unknown,
}

impl Command<Schedules> for PauseSchedule<'_> {
    type Answer = Paused;

    fn needs(&self) -> ScheduleNeeds {
        ScheduleNeeds { name: self.name.to_owned() }
    }

    fn decide(
        &self,
        rows: &mut ScheduleRows,
        now: Timestamp,
    ) -> Result<(Paused, ScheduleWrites), Refusal> {
        let Some(schedule) = &mut rows.schedule else {
            return Ok((Paused::Unknown, ScheduleWrites::default()));
        };
        if schedule.paused_at.is_some() == self.pause {
            return Ok((Paused::Before, ScheduleWrites::default()));
        }
        schedule.paused_at = self.pause.then_some(now);
        schedule.revision += 1;
        if !self.pause {
            // One that begins later still does.
            schedule.begin(now.max(schedule.after));
        }
        Ok((Paused::Now, ScheduleWrites { schedule: true, starts: Vec::new() }))
    }
}

/// Removes a schedule. Runs that it started go on.
#[derive(Clone, Copy, Debug)]
pub struct RemoveSchedule<'a> {
    /// Which.
    pub name: &'a str,
    /// Only if it was made there.
    pub of: Option<Origin>,
}

impl Command<Schedules> for RemoveSchedule<'_> {
    /// Whether there was one.
    type Answer = bool;

    fn needs(&self) -> ScheduleNeeds {
        ScheduleNeeds { name: self.name.to_owned() }
    }

    fn decide(
        &self,
        rows: &mut ScheduleRows,
        _now: Timestamp,
    ) -> Result<(bool, ScheduleWrites), Refusal> {
        let origin = rows.schedule.as_ref().map(|schedule| schedule.spec.origin);
        let is_meant = origin.is_some_and(|origin| self.of.is_none_or(|of| of == origin));
        if is_meant {
            rows.schedule = None;
        }
        Ok((is_meant, ScheduleWrites { schedule: is_meant, starts: Vec::new() }))
    }
}
