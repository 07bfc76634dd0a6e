//! A worker for tests of generated migrations, and how to look at a run.

mod run;
mod worker;

pub use run::{Run, start};
pub use worker::Worker;
