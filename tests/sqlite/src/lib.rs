//! A database file of its own for every test, and flows to run in it.

#![forbid(unsafe_code)]

mod scratch;
mod work;

pub use scratch::Scratch;
pub use work::{chain, claim, complete, ensure, map, start};
