//! Jobs: rows in, rows out.

mod check;
mod load;
mod look;
mod names;
mod read;
mod submit_in;
mod upkeep;
mod write;

pub(crate) use check::INVARIANTS;
pub(crate) use load::load;
pub(crate) use look::{due, expired, held, lapsed, next, ready};
pub(crate) use read::{list, payloads, record, settings, trace};
pub use submit_in::submit_in;
pub(crate) use upkeep::{beginning, depths, find, prunable};
pub(crate) use write::{prune, set_settings, write};
