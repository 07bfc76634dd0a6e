//! Edits an example crate and asks the compiler which places no longer fit.
//!
//! The crate in `example/` is copied below the target directory, once per test, with a manifest that
//! points back at this repository; all copies share one target directory.

mod check;
mod mark;
mod project;

pub use check::{Checked, Place};
pub use mark::place;
pub use project::Project;
