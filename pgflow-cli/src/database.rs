//! What commands about runs have in common.

mod colour;
mod reach;
pub(crate) mod shapes;
mod table;
mod times;
mod which;

pub(crate) use colour::{Paint, flat, folded, paint, plain};
pub(crate) use reach::{Reach, block_on};
pub(crate) use table::Table;
pub(crate) use times::{Times, spoken};
pub(crate) use which::{
    Filter, Meant, is_id, may_be_id, meant, parse_duration, run_of, warn_of_unknown,
};

/// Live jobs that are counted where somebody only looks: a database may have millions of them.
pub(crate) const COUNTED: u64 = 100_000;
