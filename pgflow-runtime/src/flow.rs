//! The traits `#[flow]` implements.

use pgflow_model::FlowShape;

use crate::check::InputOf;
use crate::kept::Kept;
use crate::outputs::RunOutputs;
use crate::schema::FlowSchemas;
use crate::start::StartRun;
use crate::step_index::StepIndex;
use crate::{DataError, FlowDef, StepDef};

/// A flow. `#[flow] mod orders { … }` makes one called `orders::Flow`.
///
/// ```
/// use pgflow::prelude::*;
///
/// #[flow(input = String)]
/// mod greeting {
///     #[step]
///     pub async fn hello(run: String) -> pgflow::Result<String> {
///         Ok(format!("Hello, {run}!"))
///     }
/// }
///
/// assert_eq!(greeting::Flow::SLUG, "greeting");
/// assert_eq!(greeting::Flow::shape().steps[0].slug, "hello");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a flow",
    label = "expected a flow, such as `orders::Flow` of `#[flow] mod orders`"
)]
pub trait Flow: Table<()> + Sized + Send + Sync + 'static {
    /// What a run starts with.
    type Input;
    /// What a run ends with: a field per step that no other step depends on.
    type Output;
    /// Name in the database.
    const SLUG: &'static str;
    /// Steps, options and functions: what a worker needs to know.
    const DEF: &'static FlowDef = &FlowDef {
        slug: Self::SLUG,
        input_schema: || (Self::KEPT)().schema,
        steps: Self::STEPS,
        ..Self::ABOUT
    };

    #[doc(hidden)]
    const ABOUT: FlowDef;
    #[doc(hidden)]
    const KEPT: fn() -> Kept<Self::Input, Self::Input>;
    #[doc(hidden)]
    const READ_OUTPUT: fn(&RunOutputs<Self>) -> Result<Self::Output, DataError>;

    /// The graph, as plain data: for the database, and for drawings.
    ///
    /// ```
    /// # use pgflow::prelude::*;
    /// # #[flow] mod ping { #[step] pub async fn pong() -> pgflow::Result<u8> { Ok(1) } }
    /// assert!(ping::Flow::shape().to_mermaid().contains("pong: u8"));
    /// ```
    fn shape() -> FlowShape {
        Self::DEF.shape()
    }

    /// JSON Schemas of the run's input and of every step, unless the flow said `schema = false`.
    ///
    /// ```
    /// # use pgflow::prelude::*;
    /// # #[flow] mod ping { #[step] pub async fn pong() -> pgflow::Result<String> { Ok(String::new()) } }
    /// let schemas = ping::Flow::schemas().unwrap();
    /// assert_eq!(schemas.steps[0].output.as_value()["type"], "string");
    /// ```
    fn schemas() -> Option<FlowSchemas> {
        FlowSchemas::of(Self::DEF)
    }

    /// A run of this flow that is ready to be started: its input is checked by the compiler.
    ///
    /// ```
    /// # use pgflow::prelude::*;
    /// # #[flow(input = u8)] mod count { #[step] pub async fn one(run: u8) -> pgflow::Result<u8> { Ok(run) } }
    /// let start = count::Flow::start(&7)?;
    /// assert_eq!(start.input(), 7);
    /// # Ok::<(), pgflow::definition::DataError>(())
    /// ```
    fn start(input: &dyn InputOf<Self::Input>) -> Result<StartRun<Self>, DataError> {
        StartRun::new(input.given())
    }
}

/// A step. `#[step] async fn invoice(…)` makes one called `invoice`: a type beside the function.
///
/// ```
/// use pgflow::prelude::*;
///
/// #[flow]
/// mod dice {
///     #[step(slug = "throw_once")]
///     pub async fn throw() -> pgflow::Result<u8> {
///         Ok(4)
///     }
/// }
///
/// assert_eq!(<dice::throw as pgflow::Step>::SLUG, "throw_once");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a step",
    label = "expected a step, such as `orders::invoice`"
)]
pub trait Step: 'static {
    /// The flow it belongs to.
    type Flow: Table<()>;
    /// What one task outputs.
    type TaskOutput: 'static;
    /// What dependents see: for a map step, one element per task.
    type Output: 'static;
    /// Name in the database.
    const SLUG: &'static str = <Self::Flow as Table<()>>::STEPS[Self::At::INDEX].slug;

    /// Its place in the table of its flow.
    #[doc(hidden)]
    type At: StepIndex;
}

/// The steps of a flow.
///
/// Generated code implements it for every `Any`: the compiler then evaluates the table where it is used,
/// and not whenever it checks the crate.
pub trait Table<Any> {
    /// Steps, each after everything it depends on.
    const STEPS: &'static [StepDef];
}
