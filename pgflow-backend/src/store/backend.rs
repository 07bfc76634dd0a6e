//! The contract, kept by every store.

use std::time::Duration;

use pgflow_machine::{
    Beat, Cancel, Event, Heartbeat, Lease, Limits, RetryRun, RunId, Settle, Settled, WorkerId,
};
use serde_json::Value;

use super::execute::{again, transact};
use super::{Access, Session, Store, claim, definitions, read, recovery, start, step};
use crate::backend::{
    Abilities, Backend, BackendError, Cancelled, Claim, Claimed, Definitions, Ensured, FlowVersion,
    JobUpkeep, Jobs, KnownVersion, NewRun, Parts, Pipelines, Reply, Retried, RunQuery, RunRecord,
    RunSummary, Runs, Schedules, Settlement, Source, Started, Streams, Swept, Waits, Wake, Wakes,
    Work,
};
use crate::tx::StepTx;
use pgflow_model::FlowMigrations;

/// A boxed future of a transition, which is done again as a whole where that helps.
macro_rules! transition {
    ($store:expr, $transition:expr) => {
        Box::pin(async move { again!($store, $transition) })
    };
}

impl<S: Store> Backend for S {
    fn name(&self) -> &'static str {
        S::NAME
    }

    fn abilities(&self) -> Abilities {
        Store::abilities(self)
    }

    fn limits(&self) -> Reply<'_, Limits> {
        Box::pin(async { Ok(Store::limits(self)) })
    }

    fn migrate(&self) -> Reply<'_, ()> {
        Box::pin(Store::migrate(self))
    }

    fn wakes(&self) -> Wakes {
        Store::wakes(self)
    }

    fn jobs(&self) -> Result<&dyn Jobs, BackendError> {
        Ok(self)
    }

    fn job_upkeep(&self) -> Result<&dyn JobUpkeep, BackendError> {
        Ok(self)
    }

    fn pipelines(&self) -> Result<&dyn Pipelines, BackendError> {
        Ok(self)
    }

    fn streams(&self) -> Result<&dyn Streams, BackendError> {
        Ok(self)
    }

    fn waits(&self) -> Result<&dyn Waits, BackendError> {
        Ok(self)
    }

    fn schedules(&self) -> Result<&dyn Schedules, BackendError> {
        Ok(self)
    }

    fn close(&self) -> Reply<'_, ()> {
        Box::pin(Store::close(self))
    }
}

impl<S: Store> Definitions for S {
    fn ensure_flow<'a>(&'a self, version: &'a FlowVersion) -> Reply<'a, Ensured> {
        transition!(self, definitions::ensure(self, version))
    }

    fn apply<'a>(&'a self, migrations: &'a FlowMigrations) -> Reply<'a, Vec<&'static str>> {
        transition!(self, definitions::apply(self, migrations))
    }

    fn versions<'a>(&'a self, flows: &'a [&'a str]) -> Reply<'a, Vec<KnownVersion>> {
        Box::pin(definitions::versions(self, flows))
    }

    fn set_interface<'a>(&'a self, version: &'a str, interface: &'a str) -> Reply<'a, ()> {
        transition!(self, definitions::set_interface(self, version, interface))
    }
}

impl<S: Store> Runs for S {
    fn start(&self, run: NewRun) -> Reply<'_, Started> {
        Box::pin(start::start(self, run))
    }

    fn cancel<'a>(&'a self, run: RunId, reason: Option<&'a str>) -> Reply<'a, Cancelled> {
        Box::pin(async move {
            let cancelled = again!(self, transact(self, &Cancel { run, reason }))?;
            if cancelled == Cancelled::Cancelled {
                self.wake(Wake::run(run));
            }
            Ok(cancelled)
        })
    }

    fn retry(&self, run: RunId) -> Reply<'_, Retried> {
        transition!(self, transact(self, &RetryRun { run }))
    }

    fn run(&self, run: RunId, parts: Parts) -> Reply<'_, Option<RunRecord>> {
        Box::pin(async move { Store::begin(self, Access::Read).await?.record(run, parts).await })
    }

    fn statuses<'a>(&'a self, runs: &'a [RunId]) -> Reply<'a, Vec<RunSummary>> {
        Box::pin(async move { Store::begin(self, Access::Read).await?.statuses(runs).await })
    }

    fn input(&self, run: RunId) -> Reply<'_, Option<Value>> {
        Box::pin(read::input(self, run))
    }

    fn outputs_within<'a>(
        &'a self,
        run: RunId,
        step: &'a str,
        first: u32,
        bytes: u32,
    ) -> Reply<'a, Vec<Value>> {
        Box::pin(async move {
            Store::begin(self, Access::Read).await?.outputs(run, step, first, bytes).await
        })
    }

    fn list<'a>(&'a self, query: &'a RunQuery) -> Reply<'a, Vec<RunSummary>> {
        Box::pin(async move { Store::begin(self, Access::Read).await?.list(query).await })
    }

    fn events(&self, run: RunId, after: u64, max: u32) -> Reply<'_, Vec<Event>> {
        Box::pin(read::events(self, run, after, max))
    }

    fn prune(&self, older_than: Duration, max: u32) -> Reply<'_, u64> {
        transition!(self, recovery::prune(self, older_than, max))
    }
}

impl<S: Store> Work for S {
    fn claim<'a>(&'a self, claim: &'a Claim) -> Reply<'a, Claimed> {
        transition!(self, claim::claim(self, claim))
    }

    fn settle<'a>(
        &'a self,
        settles: &'a [Settle],
        next: Option<&'a Claim>,
    ) -> Reply<'a, Settlement> {
        transition!(self, claim::settle(self, settles, next))
    }

    fn heartbeat<'a>(&'a self, leases: &'a [Lease]) -> Reply<'a, Vec<Beat>> {
        transition!(self, transact(self, &Heartbeat { leases }))
    }

    fn sweep(&self) -> Reply<'_, Swept> {
        Box::pin(recovery::sweep(self))
    }

    fn release_unknown<'a>(
        &'a self,
        worker: WorkerId,
        sources: &'a [Source],
        known: &'a [Lease],
    ) -> Reply<'a, u64> {
        transition!(self, recovery::release_unknown(self, worker, sources, known))
    }

    fn resume<'a>(&'a self, sources: &'a [Source]) -> Reply<'a, u64> {
        transition!(self, recovery::resume(self, sources))
    }

    fn sign_off(&self, worker: WorkerId) -> Reply<'_, ()> {
        Box::pin(Store::sign_off(self, worker))
    }

    fn begin<'a>(&'a self, lease: &'a Lease) -> Reply<'a, Option<StepTx>> {
        transition!(self, step::begin(self, lease))
    }

    fn commit<'a>(&'a self, tx: StepTx, settle: &'a Settle) -> Reply<'a, Settled> {
        Box::pin(step::commit(self, tx, settle))
    }
}
