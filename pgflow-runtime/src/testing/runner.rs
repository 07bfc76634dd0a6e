//! What a test starts a run with.

use std::collections::HashMap;
use std::pin::Pin;

use serde_json::Value;

use super::run::TestRun;
use super::{FinishedRun, RunError};
use crate::check::{AnswerOf, Shares, Starts, Takes, WaitsForAnswer};
use crate::kept::kept;
use crate::registry::check_states;
use crate::{DataError, Flow, FlowDef, States, Step, pattern_check};

/// What a test gives to its runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Given {
    pub(super) states: States,
    /// Answers to steps, by flow and step.
    pub(super) answers: HashMap<(&'static str, &'static str), Value>,
}

/// Runs a flow in this process: see the [module](super) for what that means.
///
/// ```
/// # use {pgflow::prelude::*, pgflow::testing};
/// # #[flow(input = u8)] mod count { #[step] pub async fn next(run: u8) -> pgflow::Result<u8> { Ok(run + 1) } }
/// let run = testing::block_on(testing::run(count::Flow, 7))?;
/// assert_eq!(run.output()?.next, 8);
/// # Ok::<(), pgflow::Error>(())
/// ```
#[rustfmt::skip] // One line, which the compiler shows.
pub fn run<F, I, G>(flow: F, input: G) -> Running<F> where Runner: Starts<F, I> + Takes<G, I> {
    Runner::default().run(flow, input)
}

/// What becomes of a run.
type Running<F> = Pin<Box<dyn Future<Output = Result<FinishedRun<F>, RunError>> + Send>>;

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
    given: Given,
}

#[diagnostic::do_not_recommend]
impl<T: Clone + Send + Sync + 'static> Shares<T> for Runner {
    fn sharing(self, value: T) -> Self {
        Self { given: Given { states: self.given.states.with(value), ..self.given } }
    }
}

impl Runner {
    /// The same runner with one more value of application state.
    ///
    /// ```
    /// let runner = pgflow::testing::Runner::default().state(5_u32);
    /// # let _ = runner;
    /// ```
    #[must_use]
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn state<T>(self, value: T) -> Self where Self: Shares<T> {
        self.sharing(value)
    }

    /// The same runner with an answer for a step that waits for one. Without, a step with a `wait_timeout` is not answered
    /// in time, and one without cannot be run.
    ///
    /// ```
    /// use pgflow::prelude::*;
    /// use pgflow::testing::{self, Runner};
    ///
    /// #[flow]
    /// mod article {
    ///     use super::*;
    ///     #[step]
    ///     pub async fn approval(hook: Hook<bool>) -> Result<Waiting<bool>> { Ok(hook.wait()) }
    /// }
    ///
    /// # fn main() -> Result<()> {
    /// let runner = Runner::default().signal::<article::approval>(&true)?;
    /// let run = testing::block_on(runner.run(article::Flow, ()))?;
    /// assert!(run.output()?.approval);
    /// # Ok(())
    /// # }
    /// ```
    #[expect(clippy::needless_pass_by_value, reason = "an answer may be owned")]
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn signal<S: WaitsForAnswer>(mut self, answer: impl AnswerOf<S::Answer>) -> Result<Self, DataError> {
        let answer = (kept::<S::Of>().write)(answer.answer())?;
        let flow = <<S::Of as Step>::Flow as Flow>::SLUG;
        self.given.answers.insert((flow, S::Of::SLUG), answer);
        Ok(self)
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
    #[expect(clippy::needless_pass_by_value, reason = "an input may be owned")]
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn run<F, I, G>(&self, _flow: F, input: G) -> Running<F> where Self: Starts<F, I> + Takes<G, I> {
        let input = <Self as Starts<F, I>>::stored(<Self as Takes<G, I>>::taken(&input));
        let started = start(<Self as Starts<F, I>>::DEF, input, self.given.clone());
        Box::pin(async move { started?.finish().await })
    }
}

fn start(
    flow: &'static FlowDef,
    input: Result<Value, DataError>,
    given: Given,
) -> Result<TestRun, RunError> {
    pattern_check::check(flow)?;
    check_states(flow, &given.states)?;
    if let Some(step) = flow.steps.iter().find(|step| step.takes_tx) {
        return Err(RunError::Transaction { step: step.slug });
    }
    TestRun::start(flow, input?, given)
}
