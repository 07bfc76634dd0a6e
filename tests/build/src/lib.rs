//! A worker for tests of generated migrations, and how to look at a run.

mod git;
mod run;
mod scratch;
mod worker;

pub use git::{commit, git};
pub use run::{Run, start};
pub use scratch::Scratch;
pub use worker::Worker;
