//! What a test starts a run with.

use super::run::TestRun;
use super::{FinishedRun, RunError};
use crate::registry::check_states;
use crate::{Flow, States, pattern_check};

/// Runs a flow in this process: see the [module](super) for what that means.
///
/// ```
/// # use {pgflow::prelude::*, pgflow::testing};
/// # #[flow(input = u8)] mod count { #[step] pub async fn next(run: u8) -> pgflow::Result<u8> { Ok(run + 1) } }
/// let run = testing::block_on(testing::run(count::Flow, 7))?;
/// assert_eq!(run.output()?.next, 8);
/// # Ok::<(), pgflow::Error>(())
/// ```
pub async fn run<F: Flow>(flow: F, input: F::Input) -> Result<FinishedRun<F>, RunError> {
    Runner::default().run(flow, input).await
}

/// Runs flows in this process, with application state.
///
/// ```
/// use pgflow::prelude::*;
/// use pgflow::testing::{self, Runner};
///
/// #[flow]
/// mod greeting {
///     use pgflow::prelude::*;
///     #[step]
///     pub async fn hello(State(name): State<String>) -> Result<String> {
///         Ok(format!("Hello, {name}!"))
///     }
/// }
///
/// let runner = Runner::default().state(String::from("Ann"));
/// let run = testing::block_on(runner.run(greeting::Flow, ()))?;
/// assert_eq!(run.output()?.hello, "Hello, Ann!");
/// # Ok::<(), pgflow::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Runner {
    states: States,
}

impl Runner {
    /// The same runner with one more value of application state.
    ///
    /// ```
    /// let runner = pgflow::testing::Runner::default().state(5_u32);
    /// # let _ = runner;
    /// ```
    #[must_use]
    pub fn state<T: Clone + Send + Sync + 'static>(self, value: T) -> Self {
        Self { states: self.states.with(value) }
    }

    /// Runs a flow from its input to its output.
    ///
    /// ```
    /// # use {pgflow::prelude::*, pgflow::testing::{self, Runner}};
    /// # #[flow] mod ping { #[step] pub async fn pong() -> pgflow::Result<u8> { Ok(1) } }
    /// let run = testing::block_on(Runner::default().run(ping::Flow, ()))?;
    /// assert_eq!(run.output()?.pong, 1);
    /// # Ok::<(), pgflow::Error>(())
    /// ```
    pub async fn run<F: Flow>(
        &self,
        _flow: F,
        input: F::Input,
    ) -> Result<FinishedRun<F>, RunError> {
        pattern_check::check(F::DEF)?;
        check_states(F::DEF, &self.states)?;
        if let Some(step) = F::DEF.steps.iter().find(|step| step.takes_tx) {
            return Err(RunError::Transaction { step: step.slug });
        }
        let input = F::start(&input)?.into_input();
        TestRun::start(F::DEF, input, self.states.clone())?.finish().await
    }
}
