//! Permits: what a claim has to get for messages besides the messages themselves.
//!
//! A message is a job, and its queue is a need; `job` decides about both. Here is decided what a stage of a pipeline may
//! take of a queue, and when.
//!
//! | file | what is decided there |
//! |---|---|
//! | `rate` | token buckets: how many now, and when the next |
//! | `resource` | counted resources, all or nothing, with a fence that grows |
//! | `fair` | the place of a message, so that no key starves the others |
//! | `batch` | when a batch is ripe, and what is in it |
//! | `group` | what was seen of messages that may be in one batch, and whether it is enough |
//! | `plan` | all of that for one claim of one stage |
//! | `grant` | what attempts get that all take the same: those at tasks of a step |
//! | `message` | messages as they are pushed, and how their attempts end |
//!
//! ```
//! use pgflow_machine::Timestamp;
//! use pgflow_machine::permit::{Bucket, Rate};
//!
//! let now = Timestamp::from_micros(1_800_000_000_000_000);
//! let mut bucket = Bucket::new(Rate::per_minute(60).burst(3));
//! assert_eq!(bucket.available(now), 3);
//! bucket.take(now, 3);
//! assert_eq!(bucket.available(now), 0);
//! assert_eq!(bucket.next_at(now), Some(now + std::time::Duration::from_secs(1)));
//! ```

mod batch;
mod fair;
mod grant;
mod group;
mod message;
mod plan;
mod problem;
mod rate;
mod resource;
#[cfg(test)]
mod tests;

pub use batch::{BatchRule, Formed, Trigger, form};
pub use fair::{place, place_of, priority_of};
pub use grant::Grants;
pub use message::{
    Columns, Message, MessageEnd, MessageLease, MessageSettle, Units, batches_of, fits,
    is_of_batches,
};
pub use plan::{
    FormedBatches, NotedStage, Pick, Place, Plan, Planner, Stage, Waiting, is_behind, is_cut,
};
pub use problem::PermitProblem;
pub use rate::{Bucket, Rate};
pub use resource::{Resource, Rooms};

use std::ops::Range;

use crate::status::words;

words! {
    /// What a row of permits is about.
    PermitKind {
        /// A counted resource: [`Resource`].
        Resource = "resource",
        /// A token bucket: [`Bucket`].
        Rate = "rate",
        /// How far a fair queue is: a number.
        Round = "round",
        /// The last place that a key of a fair queue got: a number.
        Turn = "turn",
        /// What claims of a queue take, for those who ask why a message is not taken: [`Stage`].
        Stage = "stage",
    }
}

/// Names a row of permits. Locks are taken in this order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PermitKey {
    /// What it is about.
    pub kind: PermitKind,
    /// Its name, which is data: any text of up to 256 bytes.
    pub name: String,
}

impl PermitKey {
    /// The row of this kind and name.
    pub fn new(kind: PermitKind, name: impl Into<String>) -> Self {
        Self { kind, name: name.into() }
    }

    /// How far a queue is.
    pub fn round(queue: &str) -> Self {
        Self::new(PermitKind::Round, queue)
    }

    /// The last place of a key of a queue. The length of the queue's name keeps two pairs apart.
    pub fn turn(queue: &str, key: &str) -> Self {
        Self::new(PermitKind::Turn, format!("{}:{queue}:{key}", queue.len()))
    }

    /// What claims of a step of a version of a flow take. The length of the flow's name keeps two pairs apart.
    pub fn step(flow: &str, step: &str) -> Self {
        Self::new(PermitKind::Stage, format!("{}:{flow}:{step}", flow.len()))
    }

    /// Where the keys of a queue are: from the first, up to what comes after the last.
    ///
    /// ```
    /// use pgflow_machine::permit::PermitKey;
    ///
    /// assert!(PermitKey::turns_of("docs").contains(&PermitKey::turn("docs", "a")));
    /// assert!(!PermitKey::turns_of("docs").contains(&PermitKey::turn("doc", "s:a")));
    /// ```
    pub fn turns_of(queue: &str) -> Range<Self> {
        let (first, last) = (Self::turn(queue, ""), format!("{}:{queue};", queue.len()));
        first..Self::new(PermitKind::Turn, last)
    }
}
