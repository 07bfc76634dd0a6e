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
    Cancelled, Context, Error, Flow, Hook, Result, Retry, Sequence, State, Step, Waiting, check,
    testing,
};
#[cfg(feature = "engine")]
pub use pgflow_runtime::{
    ClientError, Db, Emit, Run, RunId, RunStatus, Timestamp, Worker, db::ConnectError, job, memory,
    pipeline, worker::WorkerError,
};

#[doc(hidden)]
pub use pgflow_macros::__Attributes;

/// Flows and steps as generated code has them: what tools and tests of generated code ask for.
pub mod definition {
    pub use pgflow_runtime::{
        DataError, Extract, Finishes, FlowDef, FlowMigration, FlowMigrations, FlowSchemas, Need,
        PayloadError, RegisterError, Registry, RunOutputs, ScheduleDef, Served, StartRun, States,
        StepDef, StepSchemas, Task, Waits,
    };
}

/// What a step waits for, besides [`Hook`] and [`Waiting`]: children, signals, and the waits there are.
pub mod wait {
    pub use pgflow_runtime::{
        ChildError, ChildRun, ChildRuns, ChildStatus, HookToken, InvalidToken, Outcome,
    };
    #[cfg(feature = "engine")]
    pub use pgflow_runtime::{
        ChildJob, ChildJobs, SignalIn, SignalProblem, Signalled,
        backend::{WaitQuery, WaitRecord, WaitingFor},
        client::Signalling,
    };
}

/// What clients ask of runs, and what they are told: arguments and answers of [`Db`] and [`Run`].
#[cfg(feature = "engine")]
pub mod client {
    pub use pgflow_runtime::backend::{
        Cancelled as CancelOutcome, Parts, Retried, RunQuery, RunRecord, RunSummary, StepRecord,
        StepWork,
    };
    pub use pgflow_runtime::client::*;
    pub use pgflow_runtime::db::{RegisterFlowError, UrlError};
    pub use pgflow_runtime::{
        Event, Happened, InvalidRunId, SkipReason, StartIn, StepStatus, SubmitIn, TaskKey,
    };
}

/// Streams: what a step says with [`Emit`] while it goes on, and who reads it.
#[cfg(feature = "engine")]
pub mod stream {
    pub use pgflow_runtime::client::{Chunks, Emitted, NamedStream, StreamWriter};
    pub use pgflow_runtime::{EmitError, Emits, Emitting};
}

/// Runs that are started by the clock.
#[cfg(feature = "engine")]
pub mod schedule {
    pub use pgflow_runtime::client::{CreateSchedule, ScheduleHandle, Unscheduled};
    pub use pgflow_runtime::schedules::*;
}

/// How a [`Worker`] is doing, and how it ended.
#[cfg(feature = "engine")]
pub mod worker {
    pub use pgflow_runtime::worker::*;
}

/// The contract between engine and database. It is exempt from semantic versioning.
#[cfg(feature = "engine")]
pub mod backend {
    pub use pgflow_runtime::Limits;
    pub use pgflow_runtime::backend::*;
}

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
        use $crate::definition::FlowMigration;
        const BUILT: (&[FlowMigration], ::core::option::Option<&str>) =
            ::core::include!(::core::concat!(
                ::core::env!(
                    "OUT_DIR",
                    "`migrations!` needs a `build.rs` that calls `pgflow_build::migrations`"
                ),
                "/pgflow/migrations.rs"
            ));
        $crate::definition::FlowMigrations {
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
