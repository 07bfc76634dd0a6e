//! What tests of generated migrations share: a crate that changes, and how to look at a run.

mod git;
mod run;
mod scratch;

pub use git::{commit, git};
pub use run::{Run, all_ended, start};
pub use scratch::Scratch;
