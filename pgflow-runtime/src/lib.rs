//! What generated flows are made of, and what runs them.
//!
//! Applications depend on `pgflow`, which re-exports what they need from here.

#![forbid(unsafe_code)]

mod aliased;
#[cfg(feature = "engine")]
mod calls;
mod cancel;
pub mod check;
#[cfg(feature = "engine")]
pub mod client;
mod context;
mod data_error;
#[cfg(feature = "engine")]
pub mod db;
mod def;
mod derived;
mod describe;
#[cfg(feature = "engine")]
mod emit;
mod error;
mod extract;
mod flow;
#[cfg(feature = "engine")]
mod flow_handler;
#[cfg(feature = "engine")]
pub mod job;
#[cfg(feature = "engine")]
mod job_handler;
mod kept;
mod known;
mod never;
mod options_described;
mod outputs;
mod pattern_check;
mod payload;
#[cfg(feature = "engine")]
pub mod pipeline;
mod refused;
mod registry;
#[cfg(feature = "engine")]
mod schedule;
mod schedule_def;
mod schema;
mod sequence;
mod served;
#[cfg(feature = "engine")]
mod signal_in;
mod start;
#[cfg(feature = "engine")]
mod start_in;
mod state;
mod step_index;
#[cfg(feature = "engine")]
mod submit_in;
mod task;
pub mod testing;
mod text;
#[cfg(feature = "engine")]
mod tx;
mod wait;
#[cfg(feature = "engine")]
pub mod worker;

#[doc(hidden)]
pub mod __private;

#[cfg(feature = "engine")]
#[doc(inline)]
pub use pgflow_backend::{backend, memory, store};
#[cfg(feature = "mysql")]
#[doc(inline)]
pub use pgflow_mysql as mysql;
#[cfg(feature = "postgres")]
#[doc(inline)]
pub use pgflow_postgres as postgres;
#[cfg(feature = "sqlite")]
#[doc(inline)]
pub use pgflow_sqlite as sqlite;
#[cfg(feature = "sql")]
#[doc(no_inline)]
pub use sqlx;

pub use cancel::Cancelled;
#[cfg(feature = "engine")]
pub use client::{ClientError, Run};
pub use context::Context;
pub use data_error::DataError;
#[cfg(feature = "engine")]
pub use db::Db;
pub use def::{Finishes, FlowDef, StepDef, Waits};
#[cfg(feature = "engine")]
pub use emit::{Emit, EmitError, Emits, Emitting};
pub use error::{Error, Result, Retry};
pub use extract::{Extract, Need};
pub use flow::{Flow, Step};
pub use outputs::RunOutputs;
pub use pgflow_machine::PayloadError;
pub use pgflow_machine::wait::{HookToken, InvalidToken};
#[cfg(feature = "engine")]
pub use pgflow_machine::wait::{SignalProblem, Signalled};
#[cfg(feature = "engine")]
pub use pgflow_machine::{
    Event, Happened, InvalidRunId, Limits, RunId, RunStatus, SkipReason, StepStatus, TaskKey,
    TaskStatus, Timestamp, WorkerId,
};
/// Schedules, as the database has them.
#[cfg(feature = "engine")]
pub mod schedules {
    pub use pgflow_cron::{InvalidCron, InvalidTimetable, UnknownZone};
    pub use pgflow_machine::schedule::{
        InvalidPolicy, Missed, Origin, Overlap, Put, Schedule, ScheduleProblem, ScheduleSpec,
        ScheduleStatus, Tick,
    };
}
pub use pgflow_model::{FlowMigration, FlowMigrations};
pub use registry::{RegisterError, Registry};
pub use schedule_def::ScheduleDef;
pub use schema::{FlowSchemas, StepSchemas};
pub use sequence::Sequence;
pub use served::Served;
#[cfg(feature = "engine")]
pub use signal_in::SignalIn;
pub use start::StartRun;
#[cfg(feature = "engine")]
pub use start_in::StartIn;
pub use state::{State, States};
#[cfg(feature = "engine")]
pub use submit_in::SubmitIn;
pub use task::Task;
#[cfg(feature = "engine")]
pub use tx::Tx;
pub use wait::{ChildError, ChildRun, ChildRuns, ChildStatus, Hook, Outcome, Waiting};
#[cfg(feature = "engine")]
pub use wait::{ChildJob, ChildJobs};
#[cfg(feature = "engine")]
pub use worker::Worker;
