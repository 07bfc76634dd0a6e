//! Starting a run inside the application's own transaction.

use crate::backend::{NewRun, Reply, Started};

/// A database connection with an open transaction that a run can be started in.
///
/// The run exists if and only if the transaction commits, and no worker sees it before.
pub trait StartIn {
    /// Starts a run.
    fn start_run(&mut self, run: NewRun) -> Reply<'_, Started>;
}
