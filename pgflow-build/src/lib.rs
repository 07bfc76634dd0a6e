//! Writes the migrations of a crate's flows when it is built.
//!
//! ```no_run
//! // in build.rs
//! pgflow_build::migrations("migrations").emit();
//! ```
//!
//! The source is read with the parser of the macros. A new flow gets a file that creates it, in
//! topological order; a changed one gets a file that changes its options, or that creates a new
//! version beside the old. `pgflow.lock` says what the files make: commit all of them.

#![forbid(unsafe_code)]

#[cfg(feature = "core")]
mod core;
mod directory;
mod drafts;
mod embed;
mod emit;
mod error;
mod git;
mod history;
mod location;
mod manifest;
mod migration;
mod mode;
mod notes;
mod plan;
mod problem;
mod roots;
mod settings;
mod source;
mod stopped;
mod style;
mod syntax;
mod undo;
mod verify;
mod watch;
mod write;

pub use error::Error;
pub use location::SourceLocation;
pub use plan::Plan;
pub use problem::Problem;
pub use settings::{Migrations, migrations};
pub use source::{Comparison, FoundFlow};
pub use style::{Style, UnknownStyle};
pub use undo::Undone;
