//! Jobs: rows in, rows out.

mod check;
mod forget;
mod load;
mod look;
pub(crate) mod names;
mod pause;
mod read;
mod rows;
mod statements;
mod submit_in;
mod upkeep;
mod write;

pub(crate) use check::{INVARIANTS, rings};
pub(crate) use forget::{prune, set_settings};
pub(crate) use load::load;
pub(crate) use look::{
    awaited_runs, due, expired, held, holders, lapsed, misjudged, next, ready, waiting_pairs,
};
pub(crate) use pause::{pause, paused, resume};
pub(crate) use read::{list, payloads, record, settings, trace, trace_end};
pub use submit_in::submit_in;
pub(crate) use upkeep::{beginning, depths, find, prunable};
pub(crate) use write::write;
