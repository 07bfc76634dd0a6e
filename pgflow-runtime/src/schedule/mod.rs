//! What a worker does for schedules: it keeps those of its flows in the database, and starts what is due.
//!
//! | file | what is inside |
//! |---|---|
//! | `found` | which moments of a schedule have come, and which one is next: cron and time zones |
//! | `ticker` | starting what is due |
//! | `declared` | schedules in the source of flows |

mod declared;
mod found;
mod ticker;

pub(crate) use declared::{Declared, register};
pub(crate) use found::{Found, upcoming};
pub(crate) use ticker::Ticker;
