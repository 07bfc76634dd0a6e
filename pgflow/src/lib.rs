//! Durable workflows in your database, typed from end to end.

#![forbid(unsafe_code)]

pub mod prelude;

pub use pgflow_macros::{data, flow, step};
pub use pgflow_model as model;
pub use pgflow_runtime::{
    Context, DataError, Error, Extract, Finishes, Flow, FlowDef, FlowSchemas, Need, RegisterError, Registry,
    Result, Retry, RunOutputs, Sequence, StartRun, State, States, Step, StepDef, StepSchemas, Take,
    Task, check, testing,
};
pub use schemars;
pub use serde;
pub use serde_json;

#[doc(hidden)]
pub use pgflow_runtime::__private;
