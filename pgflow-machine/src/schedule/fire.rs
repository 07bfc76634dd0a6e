//! Which of the moments that have come start a run.

use std::time::Duration;

use serde_json::Value;

use super::{
    Missed, Overlap, QUEUED_AT_MOST, Schedule, ScheduleNeeds, ScheduleRows, ScheduleStatus,
    ScheduleWrites, Schedules, Tick,
};
use crate::{Command, Refusal, RunId, Timestamp, cut_error};

/// A moment that is longer ago is missed. One that is not starts its run, whatever `missed` says: workers that are a little
/// behind are not workers that were not there.
pub const LATE: Duration = Duration::from_mins(1);

/// What a worker found out about a schedule: which moments have come, and which one is next.
#[derive(Clone, Debug)]
pub struct Fire<'a> {
    /// Which.
    pub name: &'a str,
    /// As the worker saw it: if it has changed since, nothing happens.
    pub revision: u64,
    /// Moments that have come, the oldest first: all that are not missed, and if there are too many others to be made up for, the
    /// newest of them.
    pub due: &'a [Timestamp],
    /// What comes next.
    pub next: &'a Next,
    /// What runs are given.
    pub input: Given<'a>,
}

/// What the runs of a schedule are given.
#[derive(Clone, Copy, Debug, Default)]
pub enum Given<'a> {
    /// What is stored.
    #[default]
    Stored,
    /// What was made for them.
    Made(&'a Value),
    /// Nothing, for this reason: they do not start, and the schedule says why.
    Nothing(&'a str),
}

/// What comes next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// This moment.
    At(Timestamp),
    /// Nothing.
    Never,
    /// Nobody knows: expression or zone can't be read.
    Unknown(String),
}

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fired {
    /// Somebody was faster, or the schedule was changed, paused or removed.
    Superseded,
    /// This.
    Fired {
        /// Runs that started.
        started: Vec<RunId>,
        /// Moments that start none.
        skipped: u32,
    },
}

impl<'a> Given<'a> {
    /// What was made, if something was.
    pub fn made(self) -> Option<&'a Value> {
        match self {
            Self::Made(input) => Some(input),
            Self::Stored | Self::Nothing(_) => None,
        }
    }
}

impl Fire<'_> {
    fn fire(&self, schedule: &mut Schedule, is_running: bool, now: Timestamp) -> (Vec<Tick>, u32) {
        let is_meant = |at: &&Timestamp| **at > schedule.after && **at <= now;
        let due: Vec<_> = self.due.iter().filter(is_meant).copied().collect();
        let chosen = choose(schedule.spec.missed, &due, now);
        let ticks: Vec<_> = chosen.iter().map(|at| Tick::new(&schedule.name, *at)).collect();
        let mut skipped = due.len() - ticks.len();
        let started = match schedule.spec.overlap {
            Overlap::Allow => ticks,
            Overlap::Skip => {
                let first = ticks.last().copied().filter(|_| !is_running);
                skipped += ticks.len() - usize::from(first.is_some());
                first.into_iter().collect()
            }
            Overlap::Queue => {
                schedule.queued.extend(ticks);
                let excess = schedule.queued.len().saturating_sub(QUEUED_AT_MOST);
                schedule.queued.drain(..excess);
                skipped += excess;
                let is_next = !is_running && !schedule.queued.is_empty();
                is_next.then(|| schedule.queued.remove(0)).into_iter().collect()
            }
        };
        schedule.after = due.last().copied().unwrap_or(schedule.after);
        let (started, refused) = self.refuse(schedule, started);
        if let Some(last) = started.last() {
            (schedule.last_at, schedule.last_run) = (Some(last.at), Some(last.run));
            schedule.error = None;
        }
        (started, u32::try_from(skipped + refused).unwrap_or(u32::MAX))
    }

    /// What starts, and how many do not because there is nothing to give them.
    fn refuse(&self, schedule: &mut Schedule, ticks: Vec<Tick>) -> (Vec<Tick>, usize) {
        let Given::Nothing(why) = self.input else { return (ticks, 0) };
        schedule.error = Some(cut_error(why).to_owned());
        (Vec::new(), ticks.len())
    }

    fn go_on(&self, schedule: &mut Schedule, now: Timestamp) {
        // The clock may have gone back since the worker looked: such a moment is still to come.
        let early = self.due.iter().copied().find(|at| *at > schedule.after && *at > now);
        if let Some(early) = early {
            (schedule.status, schedule.next_at) = (ScheduleStatus::Active, Some(early));
            return;
        }
        (schedule.status, schedule.next_at) = match self.next {
            Next::At(moment) => (ScheduleStatus::Active, Some(*moment)),
            Next::Never => (ScheduleStatus::Over, None),
            Next::Unknown(_) => (ScheduleStatus::Broken, None),
        };
        if let Next::Unknown(why) = self.next {
            schedule.error = Some(cut_error(why).to_owned());
        }
    }
}

/// Those that are not missed, and as many as are made up for.
fn choose(missed: Missed, due: &[Timestamp], now: Timestamp) -> &[Timestamp] {
    let in_time = due.iter().rev().take_while(|at| **at + LATE >= now).count();
    let made_up_for = match missed {
        Missed::Skip => 0,
        Missed::Last => 1,
        Missed::All(max) => usize::try_from(max).unwrap_or(usize::MAX),
    };
    &due[due.len() - in_time.max(made_up_for).min(due.len())..]
}

impl Command<Schedules> for Fire<'_> {
    type Answer = Fired;

    fn needs(&self) -> ScheduleNeeds {
        ScheduleNeeds { name: self.name.to_owned() }
    }

    fn decide(
        &self,
        rows: &mut ScheduleRows,
        now: Timestamp,
    ) -> Result<(Fired, ScheduleWrites), Refusal> {
        let is_same = |schedule: &&mut Schedule| {
            schedule.revision == self.revision && schedule.paused_at.is_none()
        };
        let Some(schedule) = rows.schedule.as_mut().filter(is_same) else {
            return Ok((Fired::Superseded, ScheduleWrites::default()));
        };
        let before = schedule.clone();
        let (started, skipped) = self.fire(schedule, rows.is_running, now);
        self.go_on(schedule, now);
        let is_changed = *schedule != before;
        schedule.revision += u64::from(is_changed);
        let starts = started.iter().map(|tick| schedule.run(*tick, self.input.made())).collect();
        let started = started.into_iter().map(|tick| tick.run).collect();
        Ok((Fired::Fired { started, skipped }, ScheduleWrites { schedule: is_changed, starts }))
    }
}
