#![doc = include_str!("docs/front_page.md")]
#![cfg_attr(feature = "engine", doc = include_str!("docs/running.md"))]
#![forbid(unsafe_code)]

pub mod prelude;

#[doc = include_str!("docs/data.md")]
pub use pgflow_macros::data;
#[doc = include_str!("docs/flow.md")]
pub use pgflow_macros::flow;
#[doc = include_str!("docs/job.md")]
#[cfg(feature = "engine")]
pub use pgflow_macros::job;
#[doc = include_str!("docs/need.md")]
#[cfg(feature = "engine")]
pub use pgflow_macros::need;
#[doc = include_str!("docs/step.md")]
pub use pgflow_macros::step;

/// The shape of a flow as plain data: for the database, and for drawings.
///
/// ```
/// # use pgflow::prelude::*;
/// # #[flow] mod ping { #[step] pub async fn pong() -> pgflow::Result<u8> { Ok(1) } }
/// use pgflow::model::{FlowShape, StepKind};
///
/// let shape: FlowShape = ping::Flow::shape();
/// assert_eq!(shape.steps[0].kind, StepKind::Single);
/// assert!(shape.to_dot().starts_with("digraph"));
/// ```
#[doc(inline)]
pub use pgflow_model as model;

pub use pgflow_runtime::{
    Cancelled, Context, DataError, Error, Extract, Finishes, Flow, FlowDef, FlowMigration,
    FlowMigrations, FlowSchemas, Need, RegisterError, Registry, Result, Retry, RunOutputs,
    ScheduleDef, Sequence, Served, StartRun, State, States, Step, StepDef, StepSchemas, Task,
    WriteError, check, testing,
};
pub use pgflow_runtime::{
    ChildError, ChildRun, ChildRuns, ChildStatus, Hook, HookToken, InvalidToken, Outcome, Waiting,
    Waits,
};

#[doc(hidden)]
pub use pgflow_macros::__Attributes;
/// The engine: databases, workers, runs.
#[cfg(feature = "engine")]
mod engine {
    pub use pgflow_runtime::backend::{
        Cancelled as CancelOutcome, Parts, Retried, RunQuery, RunRecord, RunSummary, StepRecord,
        StepWork,
    };
    pub use pgflow_runtime::backend::{WaitQuery, WaitRecord, WaitingFor};
    pub use pgflow_runtime::client;
    pub use pgflow_runtime::client::Signalling;
    pub use pgflow_runtime::client::{
        Chunks, ClientError, CreateSchedule, Emitted, Events, NamedStream, Reason, Run,
        RunIdPrefix, RunPage, ScheduleHandle, Start, StepProgress, StreamWriter, Unscheduled, Why,
    };
    pub use pgflow_runtime::db::{ConnectError, Db, RegisterFlowError, UrlError};
    pub use pgflow_runtime::schedules::{
        Missed, Origin, Overlap, Put, Schedule, ScheduleProblem, ScheduleSpec, ScheduleStatus,
    };
    pub use pgflow_runtime::worker::{
        Health, HealthSnapshot, Phase, Worker, WorkerError, WorkerReport,
    };
    pub use pgflow_runtime::{ChildJob, ChildJobs, SignalIn, SignalProblem, Signalled};
    pub use pgflow_runtime::{
        Emit, EmitError, Emits, Emitting, Event, Happened, InvalidRunId, Limits, PayloadError,
        RunId, RunStatus, SkipReason, StartIn, StepStatus, SubmitIn, TaskKey, Timestamp, backend,
        job, memory, pipeline,
    };
}
#[cfg(feature = "engine")]
pub use engine::*;
#[cfg(feature = "engine")]
#[cfg_attr(feature = "sqlite", doc = include_str!("docs/tx.md"))]
pub use pgflow_runtime::Tx;
#[cfg(feature = "mysql")]
pub use pgflow_runtime::mysql;
#[cfg(feature = "postgres")]
pub use pgflow_runtime::postgres;
#[cfg(feature = "sqlite")]
pub use pgflow_runtime::sqlite;
/// The crate that [`Tx`] and [`Db::start_in`] speak.
///
/// Hidden, though it is there to be used: the compiler shortens `std::string::String` to `String` in messages only
/// where a program's documented crates have one thing of that name, and sqlx has many. [`Tx`] describes it.
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
#[doc(hidden)]
pub mod sqlx {
    pub use pgflow_runtime::sqlx::*;
}

#[doc(hidden)]
pub use pgflow_runtime::__private;

/// The migrations that the program's build wrote, embedded in the program: `db.apply(&pgflow::migrations!()).await?`.
///
/// It needs a build script that writes them, `build.rs`, and does not compile without:
///
/// ```text
/// fn main() {
///     pgflow_build::migrations("migrations").emit();
/// }
/// ```
///
/// with the crate in `Cargo.toml`, in the version that `pgflow` has:
///
/// ```toml
/// [build-dependencies]
/// pgflow-build = "0.1"
/// ```
///
/// While a program has none, `db.register(orders::Flow)` makes its flows known to the database.
#[macro_export]
macro_rules! migrations {
    () => {{
        use $crate::FlowMigration;
        const BUILT: (&[FlowMigration], ::core::option::Option<&str>) =
            ::core::include!(::core::concat!(
                ::core::env!(
                    "OUT_DIR",
                    "`migrations!` needs a `build.rs` that calls `pgflow_build::migrations`"
                ),
                "/pgflow/migrations.rs"
            ));
        $crate::FlowMigrations {
            package: ::core::env!("CARGO_PKG_NAME"),
            files: BUILT.0,
            notes: BUILT.1,
        }
    }};
}

/// A test that compares what the runs of these flows store with `pgflow.schemas.json`: whether the code
/// can read what earlier code has stored.
///
/// A flow that has migrations has this test without being asked for; this macro is for flows that are
/// only registered, with `db.register(order::Flow)`. `cargo pgflow schema` runs all such tests.
///
/// ```
/// # mod orders { use pgflow::prelude::*;
/// # #[flow] pub mod order { #[step] pub async fn a() -> pgflow::Result<u8> { Ok(1) } } }
/// pgflow::schema_test!(orders::order::Flow);
/// ```
#[macro_export]
macro_rules! schema_test {
    ($($flow:path),+ $(,)?) => {
        #[cfg(test)]
        #[test]
        fn pgflow_schemas() {
            for flow in [$(<$flow as $crate::Flow>::DEF),+] {
                $crate::__private::assert_readable(::core::env!("CARGO_MANIFEST_DIR"), flow);
            }
        }
    };
}
