//! Durable workflows in your database, typed from end to end.

#![forbid(unsafe_code)]

pub mod prelude;

pub use pgflow_macros::{data, flow, step};
pub use pgflow_model as model;
pub use pgflow_runtime::{
    Context, DataError, Error, Extract, Finishes, Flow, FlowDef, FlowMigrations, FlowSchemas, Need, RegisterError, Registry,
    Result, Retry, RunOutputs, Sequence, Served, StartRun, State, States, Step, StepDef, StepSchemas, Take,
    Task, check, testing,
};
pub use schemars;
pub use serde;
pub use serde_json;

#[doc(hidden)]
pub use pgflow_runtime::__private;

/// The migrations that `pgflow_build::migrations(…).emit()` wrote, embedded in the program.
///
/// Needs a build script that calls it.
#[macro_export]
macro_rules! migrations {
    () => {
        $crate::FlowMigrations {
            package: ::core::env!("CARGO_PKG_NAME"),
            files: ::core::include!(::core::concat!(
                ::core::env!("OUT_DIR"),
                "/pgflow/migrations.rs"
            )),
            flows: ::core::include_str!(::core::concat!(
                ::core::env!("OUT_DIR"),
                "/pgflow/flows.json"
            )),
        }
    };
}
