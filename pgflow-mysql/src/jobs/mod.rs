//! Jobs: rows in, rows out.

mod check;
mod load;
mod look;
mod names;
mod read;
mod write;

pub(crate) use check::INVARIANTS;
pub(crate) use load::load;
pub(crate) use look::{due, expired, lapsed, next, ready};
pub(crate) use read::{list, payloads, record, settings, trace};
pub(crate) use write::{prune, set_settings, write};
