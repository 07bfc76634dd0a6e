//! What experiments are made of.

mod base;
mod dir;
mod journal;
mod lab;
mod patience;
mod process;
mod random;
mod report;
mod runner;
mod sessions;
mod signal;

pub use base::{Base, Kind};
pub use dir::Dir;
pub(crate) use journal::now;
pub use journal::{Entry, Journal, What};
pub use lab::{Lab, Size};
pub use patience::{until, within};
pub use pgflow_test_support::compile_shim as compile;
pub use process::{Process, Spawn, WorkerEnd};
pub use random::Random;
pub use report::{Metrics, Report, Verdict, quantile};
pub use runner::{Experiment, Plan, Running, run_all};
pub use sessions::Lock;
pub use signal::signal;

/// What everything here returns: whatever went wrong, in words.
pub type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Ends an experiment with these words unless the condition holds.
#[macro_export]
macro_rules! ensure {
    ($condition:expr, $($words:tt)+) => {
        let holds: bool = $condition;
        if !holds {
            return Err(format!($($words)+).into());
        }
    };
}
