#![doc = include_str!("docs/front_page.md")]
#![forbid(unsafe_code)]

pub mod prelude;

#[doc = include_str!("docs/data.md")]
pub use pgflow_macros::data;
#[doc = include_str!("docs/flow.md")]
pub use pgflow_macros::flow;
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
    Context, DataError, Error, Extract, Flow, FlowDef, FlowSchemas, Need, RegisterError, Registry,
    Result, Retry, RunOutputs, Sequence, StartRun, State, States, Step, StepDef, StepSchemas, Task,
    check, testing,
};

#[doc(hidden)]
pub use pgflow_runtime::__private;
