//! Versions of flows.

use std::fmt;
use std::time::Duration;

use super::{Ensured, FlowVersion, Reply};
use pgflow_model::FlowMigrations;

/// Versions of flows: registering, comparing and changing them.
pub trait Definitions: fmt::Debug + Send + Sync + 'static {
    /// Registers a version of a flow, or compares it with what is there.
    fn ensure_flow<'a>(&'a self, version: &'a FlowVersion) -> Reply<'a, Ensured>;

    /// Applies the migrations of a program's flows that the database does not have yet, and returns their
    /// names. A database that outlives the process must remember each file by package, name and checksum, and
    /// apply all of them in one transaction; without memory of its own, what the files lead to is enough.
    fn apply<'a>(&'a self, migrations: &'a FlowMigrations) -> Reply<'a, Vec<&'static str>>;

    /// Versions of these flows that the database has, with what waits on each.
    fn versions<'a>(&'a self, flows: &'a [&'a str]) -> Reply<'a, Vec<KnownVersion>>;

    /// Notes what a version of a flow takes and puts out, as a hash: programs for older versions that
    /// take and put out the same start this one from then on. The last word counts.
    fn set_interface<'a>(&'a self, version: &'a str, interface: &'a str) -> Reply<'a, ()>;
}

/// A version of a flow, as the database knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownVersion {
    /// Name of the flow.
    pub flow: String,
    /// Its number.
    pub version: u32,
    /// Its own name.
    pub slug: String,
    /// Whether new runs use it.
    pub is_current: bool,
    /// Runs that have not ended.
    pub open_runs: u64,
    /// Their tasks that wait or are being worked on.
    pub open_tasks: u64,
    /// How long the oldest of those has been there.
    pub oldest: Option<Duration>,
}
