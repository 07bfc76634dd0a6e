//! Starting a run inside a transaction of the application's.

use crate::backend::{NewRun, Reply, Started};

/// A connection that can start a run as part of the transaction that is open on it: the run exists
/// if and only if that transaction commits. Workers find it at their next look, which may be a second later,
/// because a hint must not be sent before the commit.
pub trait StartIn {
    /// Starts a run, or finds the one of this id.
    fn start_run(&mut self, run: NewRun) -> Reply<'_, Started>;
}
