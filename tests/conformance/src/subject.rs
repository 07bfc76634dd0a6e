//! What a backend gives the suite besides itself.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use pgflow_runtime::backend::Backend;

/// An answer that takes a while.
pub type Later<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What keeps a database from being written.
pub type Guard = Box<dyn Send>;

/// A kind of database.
pub trait Subject: Send + Sync + 'static {
    /// What it is called in reports.
    fn name(&self) -> &'static str;

    /// A database for the next check, with its schema. It may be the same one each time: checks use flows and runs
    /// of their own, and those of one subject run one after the other.
    fn fresh(&self) -> Later<'_, Box<dyn Database>>;
}

/// A database, and what only a test may do with it. Where something fails, it panics.
pub trait Database: Send + Sync + 'static {
    /// The backend under test.
    fn backend(&self) -> Arc<dyn Backend>;

    /// Another connection to the same data, as another process has one.
    fn another(&self) -> Later<'_, Arc<dyn Backend>>;

    /// A connection that cannot write as long as the guard lives: the database is read-only, or locked. Nothing where
    /// there are no other processes.
    fn refusing(&self) -> Later<'_, Option<(Arc<dyn Backend>, Guard)>>;

    /// Makes time pass for the runs of a version of a flow, and for signals that nobody has taken.
    fn advance<'a>(&'a self, flow: &'a str, by: Duration) -> Later<'a, ()> {
        Box::pin(async move {
            self.advance_runs(flow, by).await;
            self.advance_signals(by).await;
        })
    }

    /// Makes time pass once for the runs of several versions, and once for signals, which belong to no version.
    fn advance_all<'a>(&'a self, flows: &'a [String], by: Duration) -> Later<'a, ()> {
        Box::pin(async move {
            for flow in flows {
                self.advance_runs(flow, by).await;
            }
            self.advance_signals(by).await;
        })
    }

    /// Makes time pass for the runs of a version of a flow.
    fn advance_runs<'a>(&'a self, flow: &'a str, by: Duration) -> Later<'a, ()>;

    /// Makes time pass for signals.
    fn advance_signals(&self, by: Duration) -> Later<'_, ()>;

    /// The same, also for when runs and steps began and ended: what clocks on walls would say. Not for runs that have
    /// failed, whose events say when.
    fn age<'a>(&'a self, flow: &'a str, by: Duration) -> Later<'a, ()> {
        self.advance(flow, by)
    }

    /// Makes time pass for jobs whose names begin like this, also for when they came and ended.
    ///
    /// # Panics
    /// Where there are no jobs.
    fn advance_jobs<'a>(&'a self, prefix: &'a str, by: Duration) -> Later<'a, ()> {
        panic!("there are no jobs {prefix} for which {by:?} could pass");
    }

    /// What the backend's own checker has to say; nothing if all invariants hold.
    fn check(&self) -> Later<'_, Vec<String>>;
}
