//! What every backend must do, as checks that any of them can run.
//!
//! A [`Subject`] makes databases of one kind, each with the clock that the checks need; [`run`] runs the checks on
//! it. Each check has an id (those of the specification, C01 and so on, and K01 and so on for what the contract says
//! besides) and looks at states *and* at the event log. After every check the backend's own invariants must hold,
//! and so must the rules for logs (dense, one end, nothing after it) of every run that it started.
//!
//! `cargo test -p pgflow-conformance` runs everything on memory, SQLite and Postgres. The program
//! `pgflow-conformance --url …` runs the checks on a database of yours.
//!
//! | variable | meaning |
//! |---|---|
//! | `PGFLOW_TEST_LONG` | `1`: as many rounds as the specification asks for |
//! | `PGFLOW_TEST_ONLY` | only checks whose ids begin with one of these: `C16,C18` |
//! | `PGFLOW_TEST_SEED` | seed of the differential test |
//! | `PGFLOW_TEST_SEQUENCES` | how many sequences it compares per backend |

#![forbid(unsafe_code)]

mod check;
mod checks;
pub mod differential;
mod kit;
mod loading;
mod subject;
pub mod subjects;
mod suite;

pub use check::{Check, Needs};
pub use checks::all;
pub use kit::Cx;
pub use loading::loads_what_is_asked_for;
pub use subject::{Database, Guard, Later, Subject};
pub use suite::{Options, Report, Verdict, assert_passed, run};
