//! The contract, kept.

use pgflow_machine::{Beat, Event, Lease, Limits, RunId, Settle, Settled, WorkerId};

use super::{
    Sqlite, apply, claim, control, ensure, heartbeat, list, migrate, read, settle, start, sweep,
    tx, unknown, versions,
};
use crate::FlowMigrations;
use crate::backend::{
    Abilities, Backend, Cancelled, Claim, Claimed, Ensured, FlowVersion, KnownVersion, NewRun,
    Parts, Reply, Retried, RunQuery, RunRecord, RunSummary, Started, Swept, Wakes, Work,
};
use crate::tx::Tx;

/// Boxes a future, with this backend's errors translated.
macro_rules! reply {
    ($future:expr) => {
        Box::pin(async move { Ok($future.await?) })
    };
}

impl Backend for Sqlite {
    fn name(&self) -> &'static str {
        "sqlite"
    }

    fn abilities(&self) -> Abilities {
        Abilities { multi_process: !self.connections.is_memory, transactions: true }
    }

    fn limits(&self) -> Reply<'_, Limits> {
        Box::pin(async { Ok(Limits::default()) })
    }

    fn migrate(&self) -> Reply<'_, ()> {
        reply!(migrate::migrate(&self.connections))
    }

    fn ensure_flow<'a>(&'a self, version: &'a FlowVersion) -> Reply<'a, Ensured> {
        reply!(ensure::ensure_flow(self, version))
    }

    fn apply<'a>(&'a self, migrations: &'a FlowMigrations) -> Reply<'a, Vec<&'static str>> {
        reply!(apply::apply(self, migrations))
    }

    fn versions<'a>(&'a self, flows: &'a [&'a str]) -> Reply<'a, Vec<KnownVersion>> {
        reply!(versions::versions(self, flows))
    }

    fn start(&self, run: NewRun) -> Reply<'_, Started> {
        Box::pin(start::start(self, run))
    }

    fn cancel<'a>(&'a self, run: RunId, reason: Option<&'a str>) -> Reply<'a, Cancelled> {
        reply!(control::cancel(self, run, reason))
    }

    fn retry(&self, run: RunId) -> Reply<'_, Retried> {
        reply!(control::retry(self, run))
    }

    fn run(&self, run: RunId, parts: Parts) -> Reply<'_, Option<RunRecord>> {
        reply!(read::run(self, run, parts))
    }

    fn list<'a>(&'a self, query: &'a RunQuery) -> Reply<'a, Vec<RunSummary>> {
        reply!(list::list(self, query))
    }

    fn events(&self, run: RunId, after: u64, max: u32) -> Reply<'_, Vec<Event>> {
        reply!(read::events(self, run, after, max))
    }

    fn claim<'a>(&'a self, claim: &'a Claim) -> Reply<'a, Claimed> {
        reply!(claim::claim(self, claim))
    }

    fn settle<'a>(&'a self, settles: &'a [Settle], next: Option<&'a Claim>) -> Reply<'a, Work> {
        reply!(settle::settle(self, settles, next))
    }

    fn heartbeat<'a>(&'a self, leases: &'a [Lease]) -> Reply<'a, Vec<Beat>> {
        reply!(heartbeat::heartbeat(self, leases))
    }

    fn sweep(&self) -> Reply<'_, Swept> {
        reply!(sweep::sweep(self))
    }

    fn release_unknown<'a>(
        &'a self,
        worker: WorkerId,
        queues: &'a [String],
        known: &'a [Lease],
    ) -> Reply<'a, u64> {
        reply!(unknown::release_unknown(self, worker, queues, known))
    }

    fn wakes(&self) -> Wakes {
        self.hints.listen(&self.connections)
    }

    fn begin<'a>(&'a self, lease: &'a Lease) -> Reply<'a, Option<Tx>> {
        reply!(tx::begin(self, lease))
    }

    fn commit<'a>(&'a self, tx: Tx, settle: &'a Settle) -> Reply<'a, Settled> {
        reply!(tx::commit(self, tx, settle))
    }

    fn close(&self) -> Reply<'_, ()> {
        Box::pin(async {
            self.hints.close();
            self.connections.close().await;
            Ok(())
        })
    }
}
