//! Backends around backends: what a wrapper does not care about goes through.

/// What the methods of the contract are about; [`forward!`](crate::forward) needs it in scope.
pub mod contract_prelude {
    pub use std::time::Duration;

    pub use pgflow_machine::{Beat, Lease, Settle, Settled, WorkerId};
    pub use pgflow_runtime::backend::*;
    pub use pgflow_runtime::{Event, FlowMigrations, Limits, RunId, Timestamp};
    pub use serde_json::Value;
}

/// Methods of the contract, passed on to the backend in a field: `forward!(self.field.around: method method …)`. Each call
/// goes through the wrapper's method `around`, which gets the method's name and the call.
///
/// ```
/// use std::sync::Arc;
///
/// use pgflow_test_support::contract_prelude::*;
/// use pgflow_test_support::forward;
///
/// #[derive(Debug)]
/// struct Logging(Arc<dyn Backend>);
///
/// impl Logging {
///     fn log<'a, T: 'a>(
///         &'a self,
///         method: &'static str,
///         call: impl FnOnce() -> Reply<'a, T> + Send + 'a,
///     ) -> Reply<'a, T> {
///         println!("{method}");
///         call()
///     }
/// }
///
/// impl Definitions for Logging {
///     forward!(self.0.log: ensure_flow apply versions set_interface);
/// }
/// ```
#[macro_export]
macro_rules! forward {
    (self.$field:tt.$around:ident: $($method:ident)+) => {
        $($crate::forward!(@ $method $field $around);)+
    };
    // The contract itself.
    (@ limits $($to:tt)+) => { $crate::forward!(= $($to)+ limits() -> Limits); };
    (@ migrate $($to:tt)+) => { $crate::forward!(= $($to)+ migrate() -> ()); };
    (@ close $($to:tt)+) => { $crate::forward!(= $($to)+ close() -> ()); };
    // Definitions.
    (@ ensure_flow $($to:tt)+) => { $crate::forward!(= $($to)+ ensure_flow(version: &'a FlowVersion) -> Ensured); };
    (@ apply $($to:tt)+) => { $crate::forward!(= $($to)+ apply(migrations: &'a FlowMigrations) -> Vec<&'static str>); };
    (@ versions $($to:tt)+) => { $crate::forward!(= $($to)+ versions(flows: &'a [&'a str]) -> Vec<KnownVersion>); };
    (@ set_interface $($to:tt)+) => { $crate::forward!(= $($to)+ set_interface(version: &'a str, interface: &'a str) -> ()); };
    // Runs.
    (@ start $($to:tt)+) => { $crate::forward!(= $($to)+ start(run: NewRun) -> Started); };
    (@ cancel $($to:tt)+) => { $crate::forward!(= $($to)+ cancel(run: RunId, reason: Option<&'a str>) -> Cancelled); };
    (@ retry $($to:tt)+) => { $crate::forward!(= $($to)+ retry(run: RunId) -> Retried); };
    (@ run $($to:tt)+) => { $crate::forward!(= $($to)+ run(run: RunId, parts: Parts) -> Option<RunRecord>); };
    (@ statuses $($to:tt)+) => { $crate::forward!(= $($to)+ statuses(runs: &'a [RunId]) -> Vec<RunSummary>); };
    (@ input $($to:tt)+) => { $crate::forward!(= $($to)+ input(run: RunId) -> Option<Value>); };
    (@ outputs $($to:tt)+) => { $crate::forward!(= $($to)+ outputs(run: RunId, step: &'a str, first: u32) -> Vec<Value>); };
    (@ list $($to:tt)+) => { $crate::forward!(= $($to)+ list(query: &'a RunQuery) -> Vec<RunSummary>); };
    (@ events $($to:tt)+) => { $crate::forward!(= $($to)+ events(run: RunId, after: u64, max: u32) -> Vec<Event>); };
    (@ prune $($to:tt)+) => { $crate::forward!(= $($to)+ prune(older_than: Duration, max: u32) -> u64); };
    // Work.
    (@ claim $($to:tt)+) => { $crate::forward!(= $($to)+ claim(claim: &'a Claim) -> Claimed); };
    (@ settle $($to:tt)+) => { $crate::forward!(= $($to)+ settle(settles: &'a [Settle], next: Option<&'a Claim>) -> Settlement); };
    (@ heartbeat $($to:tt)+) => { $crate::forward!(= $($to)+ heartbeat(leases: &'a [Lease]) -> Vec<Beat>); };
    (@ sweep $($to:tt)+) => { $crate::forward!(= $($to)+ sweep() -> Swept); };
    (@ sweep_and_claim $($to:tt)+) => { $crate::forward!(= $($to)+ sweep_and_claim(claim: &'a Claim) -> (Swept, Claimed)); };
    (@ release_unknown $($to:tt)+) => {
        $crate::forward!(= $($to)+ release_unknown(worker: WorkerId, sources: &'a [Source], known: &'a [Lease]) -> u64);
    };
    (@ resume $($to:tt)+) => { $crate::forward!(= $($to)+ resume(sources: &'a [Source]) -> u64); };
    (@ sign_off $($to:tt)+) => { $crate::forward!(= $($to)+ sign_off(worker: WorkerId) -> ()); };
    (@ begin $($to:tt)+) => { $crate::forward!(= $($to)+ begin(lease: &'a Lease) -> Option<StepTx>); };
    (@ commit $($to:tt)+) => { $crate::forward!(= $($to)+ commit(tx: StepTx, settle: &'a Settle) -> Settled); };
    // All of upkeep.
    (@ upkeep $($to:tt)+) => {
        $crate::forward!(= $($to)+ schema() -> SchemaState);
        $crate::forward!(= $($to)+ now() -> Timestamp);
        $crate::forward!(= $($to)+ flows() -> Vec<FlowRecord>);
        $crate::forward!(= $($to)+ definition(version: &'a str) -> Option<Definition>);
        $crate::forward!(= $($to)+ set_input_schema(version: &'a str, schema: &'a Value) -> ());
        $crate::forward!(= $($to)+ queues() -> Vec<QueueDepth>);
        $crate::forward!(= $($to)+ between(first: RunId, last: RunId, max: u32) -> Vec<RunSummary>);
        $crate::forward!(= $($to)+ step_times(run: RunId) -> Vec<StepTimes>);
        $crate::forward!(= $($to)+ tasks(run: RunId, step: &'a str, query: &'a TaskQuery) -> Vec<TaskRecord>);
        $crate::forward!(= $($to)+ sign_on(worker: &'a WorkerCard) -> ());
        $crate::forward!(= $($to)+ workers(query: &'a WorkerQuery) -> Vec<WorkerRecord>);
        $crate::forward!(= $($to)+ step_statistics(version: &'a str, window: Duration) -> Vec<StepStatistics>);
        $crate::forward!(= $($to)+ activity(flows: &'a [String], window: Duration) -> Activity);
        $crate::forward!(= $($to)+ prunable(older_than: Duration, max: u64) -> u64);
        $crate::forward!(= $($to)+ check() -> Vec<String>);
        $crate::forward!(= $($to)+ checkup() -> Checkup);
    };
    // One method.
    (= $field:tt $around:ident $method:ident($($name:ident: $type:ty),*) -> $reply:ty) => {
        fn $method<'a>(&'a self, $($name: $type),*) -> Reply<'a, $reply> {
            self.$around(stringify!($method), move || self.$field.$method($($name),*))
        }
    };
}
