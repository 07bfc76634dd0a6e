//! What a schedule is, and where it stands.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Missed, Overlap};
use crate::{CompiledFor, NewRun, RunId, Timestamp};

/// Moments that wait for a run to end; of more, the oldest are left out.
pub const QUEUED_AT_MOST: usize = 1_000;

/// What a schedule starts, and when.
#[derive(Clone, Debug, PartialEq)]
pub struct ScheduleSpec {
    /// Name of the flow.
    pub flow: String,
    /// What the program was compiled for that made it; without it, the newest version is started.
    pub compiled_for: Option<Arc<CompiledFor>>,
    /// What runs are given.
    pub input: Value,
    /// When, as a cron expression.
    pub cron: String,
    /// The time zone in which that is meant.
    pub zone: String,
    /// What becomes of moments that were missed.
    pub missed: Missed,
    /// What becomes of moments that come while a run goes on.
    pub overlap: Overlap,
    /// Who made it.
    pub origin: Origin,
}

impl ScheduleSpec {
    /// Of a flow, in UTC, without an input.
    pub fn new(flow: &str, cron: &str) -> Self {
        Self {
            flow: flow.to_owned(),
            compiled_for: None,
            input: Value::Null,
            cron: cron.to_owned(),
            zone: "UTC".to_owned(),
            missed: Missed::default(),
            overlap: Overlap::default(),
            origin: Origin::Client,
        }
    }

    /// Whether its moments are those of another one.
    pub(super) fn happens_like(&self, other: &Self) -> bool {
        (&self.cron, &self.zone) == (&other.cron, &other.zone)
    }
}

/// Who made a schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// Somebody at run time.
    #[default]
    Client,
    /// The source of its flow, by a worker that serves it: the input may be made anew for each run, by such a worker.
    Source,
}

/// Where a schedule stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScheduleStatus {
    /// A worker has to find out when its next moment is.
    #[default]
    Pending,
    /// It waits for its next moment.
    Active,
    /// No moment is to come.
    Over,
    /// Its expression, its time zone or its row can't be read.
    Broken,
}

impl Origin {
    /// As it is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Source => "source",
        }
    }

    /// From what is stored.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Client, Self::Source].into_iter().find(|it| it.as_str() == word)
    }
}

impl ScheduleStatus {
    /// As it is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Active => "active",
            Self::Over => "over",
            Self::Broken => "broken",
        }
    }

    /// From what is stored.
    pub fn from_word(word: &str) -> Option<Self> {
        let all = [Self::Pending, Self::Active, Self::Over, Self::Broken];
        all.into_iter().find(|it| it.as_str() == word)
    }
}

/// A moment of a schedule, and the run that it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tick {
    /// When.
    pub at: Timestamp,
    /// The run's id.
    pub run: RunId,
}

impl Tick {
    /// The run's id follows from schedule and moment: whoever starts it, there is one.
    ///
    /// ```
    /// use pgflow_machine::Timestamp;
    /// use pgflow_machine::schedule::Tick;
    ///
    /// let noon = Timestamp::from_micros(12);
    /// assert_eq!(Tick::new("a", noon), Tick::new("a", noon));
    /// assert_ne!(Tick::new("a", noon).run, Tick::new("b", noon).run);
    /// ```
    pub fn new(schedule: &str, at: Timestamp) -> Self {
        Self { at, run: RunId::from_key(&format!("schedule {schedule}"), &at.micros().to_string()) }
    }
}

/// A schedule as the database has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// Its name.
    pub name: String,
    /// What it starts, and when.
    pub spec: ScheduleSpec,
    /// Where it stands, unless it is paused.
    pub status: ScheduleStatus,
    /// Since when somebody has kept it from starting runs.
    pub paused_at: Option<Timestamp>,
    /// Another one after each change: what was found out about an older one does not count.
    pub revision: u64,
    /// Moments after this one count.
    pub after: Timestamp,
    /// Its next moment, if it is known.
    pub next_at: Option<Timestamp>,
    /// Moments that wait for a run to end.
    pub queued: Vec<Tick>,
    /// The last moment that started a run.
    pub last_at: Option<Timestamp>,
    /// That run.
    pub last_run: Option<RunId>,
    /// Why it is broken, or why its last moment could not start a run.
    pub error: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// Its row says what this library never writes: what could not be read is left out here. It can be shown, replaced and
    /// removed, but not written back.
    pub is_unreadable: bool,
}

impl Schedule {
    /// A new one.
    pub fn new(name: &str, spec: ScheduleSpec, now: Timestamp) -> Self {
        Self {
            name: name.to_owned(),
            spec,
            status: ScheduleStatus::Pending,
            paused_at: None,
            // From the clock on: what was found out about one of this name that was removed is not about this one.
            revision: now.micros().max(1).unsigned_abs(),
            after: now,
            next_at: None,
            queued: Vec::new(),
            last_at: None,
            last_run: None,
            error: None,
            created_at: now,
            is_unreadable: false,
        }
    }

    /// Why its row can't be read, if it can't.
    pub fn unreadable(&self) -> Option<String> {
        self.error.clone().filter(|_| self.is_unreadable)
    }

    /// Whether a worker has something to do for it now.
    pub fn is_due(&self, now: Timestamp) -> bool {
        let has_come = self.next_at.is_none_or(|next_at| next_at <= now);
        self.paused_at.is_none()
            && match self.status {
                ScheduleStatus::Pending => true,
                ScheduleStatus::Active => has_come || !self.queued.is_empty(),
                ScheduleStatus::Over => !self.queued.is_empty(),
                ScheduleStatus::Broken => false,
            }
    }

    /// When it is due, if that is known and not now.
    pub fn due_at(&self, now: Timestamp) -> Option<Timestamp> {
        let waits = self.paused_at.is_none() && self.status == ScheduleStatus::Active;
        self.next_at.filter(|next_at| waits && *next_at > now)
    }

    /// How long ago its next moment was, which no worker has seen to yet.
    pub fn late_by(&self, now: Timestamp) -> Option<Duration> {
        let is_on = self.paused_at.is_none() && self.status == ScheduleStatus::Active;
        let next_at = self.next_at.filter(|next_at| is_on && *next_at <= now)?;
        Some(next_at.saturating_until(now))
    }

    /// The run that a tick starts.
    pub fn run(&self, tick: Tick, input: Option<&Value>) -> NewRun {
        let spec = &self.spec;
        let input = input.unwrap_or(&spec.input).clone();
        let compiled_for = spec.compiled_for.clone();
        NewRun { compiled_for, ..NewRun::new(spec.flow.as_str(), input, tick.run) }
    }

    /// Lets a worker find out its next moment, from now on.
    pub(super) fn begin(&mut self, now: Timestamp) {
        self.status = ScheduleStatus::Pending;
        (self.after, self.next_at, self.error) = (now, None, None);
        self.queued.clear();
    }
}
