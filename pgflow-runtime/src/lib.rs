//! What generated flows are made of, and what runs them.
//!
//! Applications depend on `pgflow`, which re-exports what they need from here.

#![forbid(unsafe_code)]

#[cfg(feature = "engine")]
pub mod backend;
pub mod check;
mod context;
mod data_error;
mod def;
mod error;
mod extract;
mod fields;
mod flow;
mod flow_migrations;
mod outputs;
mod pattern_check;
#[cfg(feature = "postgres")]
pub mod postgres;
mod registry;
mod schema;
mod sequence;
mod served;
mod start;
#[cfg(feature = "engine")]
mod start_in;
mod state;
mod task;
pub mod testing;
#[cfg(feature = "engine")]
mod tx;
mod unknown_field;

#[doc(hidden)]
pub mod __private;

pub use context::Context;
pub use data_error::DataError;
pub use def::{Finishes, FlowDef, StepDef};
pub use error::{Error, Result, Retry};
pub use extract::{Extract, Need};
pub use flow::{Flow, Step};
pub use flow_migrations::FlowMigrations;
pub use outputs::RunOutputs;
pub use registry::{RegisterError, Registry};
pub use schema::{FlowSchemas, StepSchemas};
pub use sequence::Sequence;
pub use served::Served;
pub use start::StartRun;
#[cfg(feature = "engine")]
pub use start_in::StartIn;
pub use state::{State, States};
pub use task::Task;
#[cfg(feature = "engine")]
pub use tx::Tx;
