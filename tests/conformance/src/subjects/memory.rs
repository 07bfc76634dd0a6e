//! Memory, where time goes by when it is told to.

use std::sync::Arc;
use std::time::Duration;

use pgflow_runtime::backend::{Backend, Upkeep};
use pgflow_runtime::memory::Memory;

use crate::subject::{Database, Guard, Later, Subject};

/// A new store for every check.
#[derive(Clone, Copy, Debug)]
pub struct InMemory;

impl Subject for InMemory {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn fresh(&self) -> Later<'_, Box<dyn Database>> {
        Box::pin(async { Box::new(Store(Memory::new())) as Box<dyn Database> })
    }
}

struct Store(Memory);

impl Database for Store {
    fn backend(&self) -> Arc<dyn Backend> {
        Arc::new(self.0.clone())
    }

    fn another(&self) -> Later<'_, Arc<dyn Backend>> {
        Box::pin(async { self.backend() })
    }

    fn refusing(&self) -> Later<'_, Option<(Arc<dyn Backend>, Guard)>> {
        Box::pin(async { None })
    }

    fn advance_runs<'a>(&'a self, _flow: &'a str, by: Duration) -> Later<'a, ()> {
        Box::pin(async move { self.0.advance(by) })
    }

    /// Its one clock has moved with the runs.
    fn advance_signals(&self, _by: Duration) -> Later<'_, ()> {
        Box::pin(async {})
    }

    fn advance_all<'a>(&'a self, _flows: &'a [String], by: Duration) -> Later<'a, ()> {
        Box::pin(async move { self.0.advance(by) })
    }

    fn advance_jobs<'a>(&'a self, _prefix: &'a str, by: Duration) -> Later<'a, ()> {
        Box::pin(async move { self.0.advance(by) })
    }

    fn check(&self) -> Later<'_, Vec<String>> {
        Box::pin(async { Upkeep::check(&self.0).await.expect("the checker runs") })
    }
}
