//! Who works.

use std::time::Duration;

use pgflow_machine::{Timestamp, WorkerId};

/// What a worker says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerCard {
    /// Its id.
    pub id: WorkerId,
    /// The machine it runs on, if it knows.
    pub host: Option<String>,
    /// Its process there.
    pub pid: u32,
    /// Slugs of the versions it has code for.
    pub queues: Vec<String>,
    /// How many tasks it runs at once.
    pub slots: u32,
}

/// Which workers to list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerQuery {
    /// Also those that signed off, or were not heard of for a day.
    pub with_gone: bool,
    /// Only after this one in the list: the last of the page before.
    pub after: Option<WorkerId>,
    /// How many.
    pub max: u32,
}

impl WorkerQuery {
    /// Who was not heard of for longer is gone, and left out.
    pub const LONG_GONE: Duration = Duration::from_hours(24);
}

impl Default for WorkerQuery {
    fn default() -> Self {
        Self { with_gone: false, after: None, max: 100 }
    }
}

/// A worker as the database knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerRecord {
    /// Its id.
    pub id: WorkerId,
    /// The machine it runs on, if it said so.
    pub host: Option<String>,
    /// Its process there, if it said so.
    pub pid: Option<u32>,
    /// Slugs of the versions it serves.
    pub queues: Vec<String>,
    /// How many tasks it runs at once, if it said so.
    pub slots: Option<u32>,
    /// How many tasks it has now.
    pub running: u32,
    /// When it signed on.
    pub started_at: Timestamp,
    /// When it was last heard of.
    pub seen_at: Timestamp,
    /// When it signed off.
    pub stopped_at: Option<Timestamp>,
}

impl WorkerRecord {
    /// Who was heard of in this time is alive: workers say so every few seconds.
    pub const ALIVE: Duration = Duration::from_mins(1);

    /// Whether it works, as far as the database knows at this moment.
    pub fn is_alive(&self, now: Timestamp) -> bool {
        self.stopped_at.is_none() && self.seen_at.saturating_until(now) <= Self::ALIVE
    }

    /// Whether it stopped without a word.
    pub fn is_lost(&self, now: Timestamp) -> bool {
        self.stopped_at.is_none() && !self.is_alive(now)
    }
}
