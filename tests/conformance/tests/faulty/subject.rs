//! Memory with a fault.

use std::sync::Arc;
use std::time::Duration;

use pgflow_conformance::subjects::InMemory;
use pgflow_conformance::{Database, Guard, Later, Subject};
use pgflow_runtime::backend::Backend;

use crate::backend::Faulty;
use crate::fault::Fault;

pub(crate) struct FaultyMemory(pub(crate) Fault);

impl Subject for FaultyMemory {
    fn name(&self) -> &'static str {
        "faulty"
    }

    fn fresh(&self) -> Later<'_, Box<dyn Database>> {
        Box::pin(async {
            let inner = InMemory.fresh().await;
            let backend = Arc::new(Faulty::new(inner.backend(), self.0));
            Box::new(FaultyDatabase { inner, backend }) as Box<dyn Database>
        })
    }
}

struct FaultyDatabase {
    inner: Box<dyn Database>,
    backend: Arc<Faulty>,
}

impl Database for FaultyDatabase {
    fn backend(&self) -> Arc<dyn Backend> {
        self.backend.clone()
    }

    fn another(&self) -> Later<'_, Arc<dyn Backend>> {
        Box::pin(async { self.backend() })
    }

    fn refusing(&self) -> Later<'_, Option<(Arc<dyn Backend>, Guard)>> {
        self.inner.refusing()
    }

    fn advance_runs<'a>(&'a self, flow: &'a str, by: Duration) -> Later<'a, ()> {
        self.inner.advance_runs(flow, by)
    }

    fn advance_signals(&self, by: Duration) -> Later<'_, ()> {
        self.inner.advance_signals(by)
    }

    fn advance_all<'a>(&'a self, flows: &'a [String], by: Duration) -> Later<'a, ()> {
        self.inner.advance_all(flows, by)
    }

    fn check(&self) -> Later<'_, Vec<String>> {
        self.inner.check()
    }
}
