//! What the tests are written with: a database, a run in it, the tasks of that run.

mod answer;
mod db;
mod flows;
mod run;
mod seed;
mod session;
mod task;
mod waiting;

pub(crate) use answer::{Failure, lit};
pub(crate) use db::Db;
pub(crate) use flows::{define, define_maps};
pub(crate) use run::Run;
pub(crate) use seed::Random;
pub(crate) use session::Session;
pub(crate) use task::Task;
pub(crate) use waiting::Waiting;

/// Long mode: the durations that the acceptance lines ask for instead of the short ones.
pub(crate) fn long() -> bool {
    std::env::var_os("PGFLOW_TEST_LONG").is_some_and(|value| value != "0")
}
