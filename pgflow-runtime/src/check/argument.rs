//! Arguments and results whose type is known beforehand.
//!
//! With a plain `Duration` in a signature, the compiler shows the call and our function in 13 lines. Of a rule it says the sentence
//! below instead. It takes away that the compiler finds out what `x.into()` is to become.

use std::time::Duration;

/// How long something takes is a `Duration`, not a number whose unit would have to be guessed.
///
/// ```compile_fail
/// # use pgflow::prelude::*;
/// #[flow] mod wrong {
///     use super::*;
///     #[step] async fn rest(ctx: Context) -> Result<Waiting<()>> { Ok(ctx.sleep(60)) }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "a time is a `Duration`, not `{Given}`",
    label = "expected a `Duration`, such as `Duration::from_secs(60)`"
)]
pub trait Lasts<Given> {
    #[doc(hidden)]
    fn time(given: Given) -> Duration;
}

#[diagnostic::do_not_recommend]
impl<Given: Is<Duration>, Who> Lasts<Given> for Who {
    fn time(given: Given) -> Duration {
        given.itself()
    }
}

/// A step puts out what it waits for.
///
/// ```compile_fail
/// # use pgflow::prelude::*;
/// #[flow] mod wrong {
///     use super::*;
///     #[step] async fn ask(hook: Hook<String>) -> Result<Waiting<bool>> { Ok(hook.wait()) }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "what is waited for is `{Came}`, and the step puts out `{Output}`",
    label = "expected to wait for `{Output}`"
)]
pub trait PutsOut<Came, Output> {}

#[diagnostic::do_not_recommend]
impl<Came, Output: Is<Came>, Who> PutsOut<Came, Output> for Who {}

/// A type is itself. What is given, or asked for, is `Self`: of what is known beforehand the compiler would conclude that all is well, and stumble later.
#[doc(hidden)]
pub trait Is<Wanted> {
    fn itself(self) -> Wanted;
}

#[diagnostic::do_not_recommend]
impl<T> Is<T> for T {
    fn itself(self) -> T {
        self
    }
}
