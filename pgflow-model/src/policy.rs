//! What becomes of moments of a schedule that nobody saw, and of those that come too soon.

use std::fmt;
use std::str::FromStr;

/// Missed moments that can be made up for, one run each.
pub const MOST_MISSED: u32 = 1_000;

/// What becomes of moments that came while no worker was there, or the database was away.
///
/// ```
/// use pgflow_model::Missed;
///
/// assert_eq!("all(10)".parse(), Ok(Missed::All(10)));
/// assert_eq!(Missed::Last.to_string(), "last");
/// assert!("all(0)".parse::<Missed>().is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Missed {
    /// They are left out. A moment counts as missed when it is more than a minute ago, or a later one has come.
    Skip,
    /// The last of them starts a run, however late.
    #[default]
    Last,
    /// The last so many start a run each.
    All(u32),
}

impl Missed {
    /// Whether it can be stored: [`All`](Self::All) takes any number.
    ///
    /// ```
    /// use pgflow_model::Missed;
    ///
    /// assert!(Missed::All(1_000).check().is_ok());
    /// assert!(Missed::All(0).check().is_err() && Missed::All(1_001).check().is_err());
    /// ```
    pub fn check(self) -> Result<(), InvalidPolicy> {
        self.to_string().parse::<Self>().map(drop)
    }
}

/// What becomes of a moment that comes while the run of an earlier one goes on.
///
/// ```
/// use pgflow_model::Overlap;
///
/// assert_eq!("queue".parse(), Ok(Overlap::Queue));
/// assert_eq!(Overlap::default().to_string(), "allow");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Overlap {
    /// It starts a run all the same.
    #[default]
    Allow,
    /// It is left out.
    Skip,
    /// Its run starts when the other one has ended.
    Queue,
}

/// A text that says neither.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidPolicy {
    /// The text.
    pub text: String,
    /// What it may be.
    pub one_of: &'static str,
}

impl fmt::Display for InvalidPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { text, one_of } = self;
        write!(f, "`{text}` is not one of {one_of}")
    }
}

impl std::error::Error for InvalidPolicy {}

impl fmt::Display for Missed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Skip => f.write_str("skip"),
            Self::Last => f.write_str("last"),
            Self::All(max) => write!(f, "all({max})"),
        }
    }
}

impl FromStr for Missed {
    type Err = InvalidPolicy;

    fn from_str(text: &str) -> Result<Self, InvalidPolicy> {
        let max = text.strip_prefix("all(").and_then(|rest| rest.strip_suffix(')'));
        let max = max.and_then(|max| max.parse().ok());
        match (text, max) {
            ("skip", _) => Ok(Self::Skip),
            ("last", _) => Ok(Self::Last),
            (_, Some(max @ 1..=MOST_MISSED)) => Ok(Self::All(max)),
            _ => {
                let one_of = "`skip`, `last` and `all(1)` to `all(1000)`";
                Err(InvalidPolicy { text: text.to_owned(), one_of })
            }
        }
    }
}

impl fmt::Display for Overlap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Allow => "allow",
            Self::Skip => "skip",
            Self::Queue => "queue",
        })
    }
}

impl FromStr for Overlap {
    type Err = InvalidPolicy;

    fn from_str(text: &str) -> Result<Self, InvalidPolicy> {
        match text {
            "allow" => Ok(Self::Allow),
            "skip" => Ok(Self::Skip),
            "queue" => Ok(Self::Queue),
            _ => {
                let one_of = "`allow`, `skip` and `queue`";
                Err(InvalidPolicy { text: text.to_owned(), one_of })
            }
        }
    }
}
