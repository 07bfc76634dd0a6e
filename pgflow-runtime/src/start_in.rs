//! Starting a run inside a transaction of the application's.

use crate::backend::{NewRun, Reply, Started};

/// A connection that can start a run as part of the transaction that is open on it: the run exists
/// if and only if that transaction commits. Workers find it at their next look, which may be a second later,
/// because a hint must not be sent before the commit.
pub trait StartIn {
    /// Starts a run, or finds the one of this id.
    fn start_run(&mut self, run: NewRun) -> Reply<'_, Started>;
}

#[cfg(feature = "postgres")]
impl StartIn for sqlx::Transaction<'_, sqlx::Postgres> {
    fn start_run(&mut self, run: NewRun) -> Reply<'_, Started> {
        (**self).start_run(run)
    }
}

#[cfg(feature = "sqlite")]
impl StartIn for sqlx::Transaction<'_, sqlx::Sqlite> {
    fn start_run(&mut self, run: NewRun) -> Reply<'_, Started> {
        (**self).start_run(run)
    }
}

/// A step can start a run of another flow together with its own completion.
impl StartIn for crate::Tx {
    fn start_run(&mut self, run: NewRun) -> Reply<'_, Started> {
        self.connection().start_run(run)
    }
}
