//! What checks are written with.

mod aftermath;
mod cx;
pub(crate) mod jobs;
mod log;
mod run;
pub(crate) mod schedules;
mod shapes;
pub(crate) mod streams;
mod verdicts;
pub(crate) mod waits;

pub(crate) use aftermath::aftermath;
pub use cx::Cx;
pub(crate) use cx::{names, steps_of};
pub(crate) use log::{Log, lines};
pub(crate) use run::Run;
pub(crate) use shapes::{StepExt, options, single};
pub(crate) use verdicts::{RELEASED, completed, failed, fatal, later, yielded};
