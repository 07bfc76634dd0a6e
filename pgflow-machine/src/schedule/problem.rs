//! What is wrong with what a caller wants.

use super::{InvalidPolicy, Origin};
use crate::Timestamp;

/// Why a schedule is not made or changed. Nothing has changed then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleProblem {
    /// The name cannot be stored.
    #[error("the name of the schedule {0}")]
    Name(&'static str),
    /// What becomes of its moments is said by a word that is none.
    #[error(transparent)]
    Policy(#[from] InvalidPolicy),
    /// It is to begin when none of its moments comes any more.
    #[error(
        "the schedule is to begin after its last moment: cron expressions are followed up to the year 5000"
    )]
    BeginsTooLate {
        /// When it was to begin.
        begins: Timestamp,
    },
    /// Its first moment is over, by the clock of the database.
    #[error("the schedule is to begin in the past: the database's clock is {} s ahead", begins.saturating_until(*now).as_secs())]
    BeginsInThePast {
        /// When it was to begin.
        begins: Timestamp,
        /// What time it is.
        now: Timestamp,
    },
    /// Somebody else made the schedule of this name.
    #[error("{}", match by {
        Origin::Source => "a schedule of this name is declared in the source of its flow: change it there, or pause it",
        Origin::Client => "somebody made a schedule of this name at run time: remove it, or call it otherwise",
    })]
    Taken {
        /// Who did.
        by: Origin,
    },
}
