//! Answers from outside.

use std::fmt;
use std::marker::PhantomData;

use pgflow_machine::wait::{HookToken, InvalidToken};

use super::{On, Wait, Waiting};
use crate::check::PutsOut;

/// What a step waits for that needs an answer from outside: a person, a webhook, another system. A parameter called `hook` has
/// an unguessable token, the same for all attempts at the task; its holder can [answer](crate::Db::signal).
///
/// ```
/// use pgflow::prelude::*;
///
/// #[flow(input = String)]
/// mod article {
///     use super::*;
///
///     #[step]
///     pub async fn approval(run: String, hook: Hook<bool>) -> Result<Waiting<bool>> {
///         println!("may we publish {run}? https://example.org/hooks/{}", hook.token());
///         Ok(hook.wait())
///     }
/// }
///
/// # fn main() -> Result<()> {
/// let waiting = pgflow::testing::block_on(article::approval("Waits".into(), Hook::for_test()))?;
/// assert_eq!(format!("{waiting:?}"), "Waiting(for an answer)");
/// # Ok(())
/// # }
/// ```
pub struct Hook<T> {
    token: HookToken,
    of: PhantomData<fn() -> T>,
}

impl<T> Hook<T> {
    pub(crate) fn new(token: HookToken) -> Self {
        Self { token, of: PhantomData }
    }

    /// A hook whose token your application chooses, up to 200 bytes: for answers that may come before the step waits for
    /// them, and for senders who know the name. It is no secret. Only one task at a time can wait for it.
    ///
    /// ```
    /// use pgflow::Hook;
    ///
    /// let hook = Hook::<bool>::named("order-42-approval")?;
    /// assert_eq!(hook.token(), "order-42-approval");
    /// assert!(Hook::<bool>::named("").is_err());
    /// # Ok::<(), pgflow::wait::InvalidToken>(())
    /// ```
    pub fn named(name: impl AsRef<str>) -> Result<Self, InvalidToken> {
        HookToken::named(name.as_ref()).map(Self::new)
    }

    /// A hook to call a step with in a unit test.
    ///
    /// ```
    /// assert!(pgflow::Hook::<bool>::for_test().token().starts_with("hk_"));
    /// ```
    pub fn for_test() -> Self {
        Self::new(HookToken::new())
    }

    /// Who has this can answer: keep it as a secret, unless it is [named](Self::named).
    pub fn token(&self) -> &str {
        self.token.as_str()
    }

    /// Ends the attempt by waiting for the answer, which is the output of the step.
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn wait<O>(self) -> Waiting<O> where Self: PutsOut<T, O> {
        Waiting::new(Wait::on(On::Hook(self.token)))
    }
}

impl<T> Clone for Hook<T> {
    fn clone(&self) -> Self {
        Self::new(self.token.clone())
    }
}

/// Without its token, which is a secret.
impl<T> fmt::Debug for Hook<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hook")
    }
}
