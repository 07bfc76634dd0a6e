//! The error a step ends with.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use crate::check::{Lasts, MadeFrom, Wraps};

/// A step's result.
///
/// ```
/// fn parse(text: &str) -> pgflow::Result<u32> {
///     Ok(text.parse()?)
/// }
/// assert_eq!(parse("7").unwrap(), 7);
/// assert!(parse("seven").is_err());
/// ```
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Any error, and whether trying again can help. `?` converts into it.
///
/// It does not implement [`std::error::Error`] itself, so that every error converts into it, texts
/// and `anyhow::Error` included.
///
/// ```
/// use pgflow::{Error, Retry};
///
/// let timeout = Error::from("the server did not answer");
/// assert_eq!(timeout.retry(), Retry::Later);
///
/// let refused = Error::fatal("the card was refused");
/// assert_eq!(refused.retry(), Retry::Never);
/// assert_eq!(refused.to_string(), "the card was refused");
/// ```
pub struct Error {
    source: Box<dyn StdError + Send + Sync>,
    retry: Retry,
}

/// Whether a failed task is tried again, while it has attempts left.
///
/// ```
/// assert_eq!(pgflow::Error::from("no answer").retry(), pgflow::Retry::Later);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Retry {
    /// After the delay that the step's options say.
    Later,
    /// After this delay.
    After(Duration),
    /// No: the attempts count as used up, and `when_exhausted` decides.
    Never,
    /// No, and the run should go on without the step.
    Skip,
}

impl Retry {
    /// Whether there is no further attempt.
    ///
    /// ```
    /// assert!(pgflow::Error::skip("nothing to do").retry().is_final());
    /// assert!(!pgflow::Error::from("no answer").retry().is_final());
    /// ```
    pub fn is_final(self) -> bool {
        matches!(self, Self::Never | Self::Skip)
    }
}

impl Error {
    /// An error that no further attempt would mend.
    ///
    /// ```
    /// # use pgflow::{Error, Retry};
    /// assert_eq!(Error::fatal("no such user").retry(), Retry::Never);
    /// ```
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn fatal<E>(error: E) -> Self where Self: Wraps<E> {
        Self { retry: Retry::Never, ..Self::wrap(error) }
    }

    /// An error that lets the run go on without this step, if the step says `when_exhausted = skip` or
    /// `skip_cascade`. Otherwise it is as good as [`Error::fatal`], and the message says so.
    ///
    /// ```
    /// # use pgflow::{Error, Retry};
    /// assert_eq!(Error::skip("this customer has no invoices").retry(), Retry::Skip);
    /// ```
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn skip<E>(error: E) -> Self where Self: Wraps<E> {
        Self { retry: Retry::Skip, ..Self::wrap(error) }
    }

    /// An error that asks for its own delay before the next attempt.
    ///
    /// ```
    /// # use {pgflow::{Error, Retry}, std::time::Duration};
    /// let minute = Duration::from_secs(60);
    /// assert_eq!(Error::retry_after(minute, "slow down").retry(), Retry::After(minute));
    /// ```
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn retry_after<D, E>(delay: D, error: E) -> Self where Self: Lasts<D> + Wraps<E> {
        let delay = <Self as Lasts<D>>::time(delay);
        Self { retry: Retry::After(delay), ..Self::wrap(error) }
    }

    /// Whether trying again can help.
    ///
    /// ```
    /// assert_eq!(pgflow::Error::from("no answer").retry(), pgflow::Retry::Later);
    /// ```
    pub fn retry(&self) -> Retry {
        self.retry
    }

    /// The error inside.
    ///
    /// ```
    /// let error = pgflow::Error::from("x".parse::<u8>().unwrap_err());
    /// assert!(error.as_source().is::<std::num::ParseIntError>());
    /// ```
    pub fn as_source(&self) -> &(dyn StdError + Send + Sync + 'static) {
        &*self.source
    }

    /// The error inside, to pass on as a [`std::error::Error`].
    ///
    /// ```
    /// fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    ///     let step: pgflow::Result<u32> = Ok(1);
    ///     step.map_err(pgflow::Error::into_source)?;
    ///     Ok(())
    /// }
    /// ```
    pub fn into_source(self) -> Box<dyn StdError + Send + Sync> {
        self.source
    }
}

impl<E> From<E> for Error
where
    Error: MadeFrom<E>,
{
    fn from(error: E) -> Self {
        Self { source: Self::source(error), retry: Retry::Later }
    }
}

/// As people read it, with its causes: `fn main() -> pgflow::Result<()>` prints that.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&pgflow_model::with_causes(&*self.source))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.source, f)
    }
}
