//! Which of the moments that have come start a run.

use std::time::Duration;

use serde_json::Value;

use super::{
    Missed, Overlap, QUEUED_AT_MOST, Schedule, ScheduleNeeds, ScheduleRows, ScheduleStatus,
    ScheduleWrites, Schedules, Tick,
};
use crate::{Command, Refusal, RunId, Timestamp, cut_error};

/// A moment that is longer ago is missed.
pub(crate) const LATE: Duration = Duration::from_mins(1);

/// What a worker found out about a schedule: which moments have come, and which one is next.
#[derive(Clone, Debug)]
pub struct Fire<'a> {
    /// Which.
    pub name: &'a str,
    /// As the worker saw it: if it has changed since, nothing happens.
    pub revision: u64,
    /// Moments that have come, the oldest first; if there are too many to be made up for, the newest of them.
    pub due: &'a [Timestamp],
    /// What comes next.
    pub next: &'a Next,
    /// What runs are given, instead of what is stored.
    pub input: Option<&'a Value>,
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
        if let Some(last) = started.last() {
            (schedule.last_at, schedule.last_run) = (Some(last.at), Some(last.run));
            schedule.error = None;
        }
        (started, u32::try_from(skipped).unwrap_or(u32::MAX))
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

/// Those that are made up for, or are not late.
fn choose(missed: Missed, due: &[Timestamp], now: Timestamp) -> &[Timestamp] {
    let last = |many: usize| &due[due.len() - many.min(due.len())..];
    match missed {
        Missed::Skip if due.last().is_some_and(|last| *last + LATE < now) => &[],
        Missed::Skip | Missed::Last => last(1),
        Missed::All(max) => last(usize::try_from(max).unwrap_or(usize::MAX)),
    }
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
        let starts = started.iter().map(|tick| schedule.run(*tick, self.input)).collect();
        let started = started.into_iter().map(|tick| tick.run).collect();
        Ok((Fired::Fired { started, skipped }, ScheduleWrites { schedule: is_changed, starts }))
    }
}
