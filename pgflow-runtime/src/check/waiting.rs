//! Steps that wait.

use super::given::LeadsTo;
use crate::wait::{Hook, Waiting};
use crate::{Error, Flow, Step, Task};

/// A step that waits returns a [`Waiting`] for what it outputs.
///
/// ```compile_fail
/// mod other { pub struct Waiting<T>(pub T); }
/// #[pgflow::flow]
/// mod wrong {
///     use super::other::Waiting;
///     #[step]
///     async fn count() -> pgflow::Result<Waiting<u32>> { Ok(Waiting(1)) }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "step `{Step}` returns `{Self}`, which is not what a step waits for",
    label = "expected a `pgflow::Waiting<{Output}>`"
)]
pub trait IsWaiting<Output, Step> {
    #[doc(hidden)]
    fn waits(self) -> Waiting<Output>;
}

#[diagnostic::do_not_recommend]
impl<Output, Step> IsWaiting<Output, Step> for Waiting<Output> {
    fn waits(self) -> Self {
        self
    }
}

/// A parameter called `hook` is a [`Hook`].
///
/// ```compile_fail
/// mod other { pub struct Hook<T>(pub T); }
/// #[pgflow::flow]
/// mod wrong {
///     use pgflow::Waiting;
///     #[step]
///     async fn count(hook: super::other::Hook<u32>) -> pgflow::Result<Waiting<u32>> { todo!() }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "step `{Consumer}` takes `{Self}` as its `hook`",
    label = "expected a `pgflow::Hook<T>`",
    note = "parameters are matched by name, and `hook` is what the step waits for"
)]
pub trait IsHook<Consumer>: Sized {
    #[doc(hidden)]
    fn from_task(task: &Task) -> Result<Self, Error>;
}

#[diagnostic::do_not_recommend]
impl<T, Consumer> IsHook<Consumer> for Hook<T> {
    fn from_task(task: &Task) -> Result<Self, Error> {
        let missing = || {
            Error::fatal(
                "this step waits for an answer, and whoever called it has no token to give",
            )
        };
        task.hook().cloned().map(Self::new).ok_or_else(missing)
    }
}

/// A step that waits: its function returns a `Waiting<T>`. Made by `#[step]`.
#[diagnostic::on_unimplemented(
    message = "step `{Self}` does not wait",
    label = "its function returns no `Waiting<…>`"
)]
pub trait WaitsForAnswer {
    /// What it waits for. Of a step that does not wait there is none, so the compiler says nothing about the answer then.
    type Answer;
    /// The step itself.
    #[doc(hidden)]
    type Of: Step<Flow: Flow, TaskOutput = Self::Answer>;
}

/// A step is answered with what it waits for, owned or borrowed.
#[diagnostic::on_unimplemented(
    message = "this step waits for `{Answer}`, not for `{Self}`",
    label = "expected `{Answer}`"
)]
pub trait AnswerOf<Answer> {
    #[doc(hidden)]
    fn answer(&self) -> &Answer;
}

// By way of another trait: only of a rule that is broken inside an `impl` does the compiler not show the call as well.
#[diagnostic::do_not_recommend]
impl<Answer, Given: LeadsTo<Answer>> AnswerOf<Answer> for Given {
    fn answer(&self) -> &Answer {
        self.given()
    }
}
