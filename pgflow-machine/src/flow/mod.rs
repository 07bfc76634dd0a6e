//! Flows and runs: a run and its steps, versions, and the commands on whole runs.

mod catalog;
mod change;
mod compiled;
mod control;
pub(crate) mod excess;
mod plan;
mod refusal;
mod start;
mod state;
mod turn;
mod version;

pub use catalog::Catalog;
pub use change::{Change, Effect, Entry, InputSource, Payload};
pub use compiled::CompiledFor;
pub use control::{Cancel, Cancelled, Retried, RetryRun};
pub use excess::{Excess, OUTPUT_BYTES, completed_leaves, excess, is_measured};
pub use plan::{InvalidShape, Plan, PlanStep};
pub use refusal::Refusal;
pub use start::{Begins, NewRun, Start, Started};
pub use state::{Gather, Output, RunState, StepState};
pub use turn::{Finished, NotLoaded, StartError, Turn, Violation, elements};
pub use version::{Ensured, FlowVersion, Version};
