//! The rule for names that reach the database.

use std::fmt;

/// Longest slug of a step, in bytes.
///
/// ```
/// use pgflow_model::{MAX_STEP_SLUG, check_step_slug};
///
/// assert!(check_step_slug(&"s".repeat(MAX_STEP_SLUG)).is_ok());
/// assert!(check_step_slug(&"s".repeat(MAX_STEP_SLUG + 1)).is_err());
/// ```
pub const MAX_STEP_SLUG: usize = 128;

/// Longest slug of a flow, in bytes: it names a queue, and queues have shorter names.
///
/// ```
/// use pgflow_model::{MAX_FLOW_SLUG, check_flow_slug};
///
/// assert!(check_flow_slug(&"f".repeat(MAX_FLOW_SLUG)).is_ok());
/// assert!(check_flow_slug(&"f".repeat(MAX_FLOW_SLUG + 1)).is_err());
/// ```
pub const MAX_FLOW_SLUG: usize = 47;

/// The key of the run's input in a step's input, so no step can have it.
const RESERVED: &str = "run";

/// Why a slug was refused.
///
/// ```
/// use pgflow_model::{InvalidSlug, check_step_slug};
///
/// assert_eq!(check_step_slug("run"), Err(InvalidSlug::Reserved));
/// assert_eq!(check_step_slug("fetch-user"), Err(InvalidSlug::Character('-')));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidSlug {
    /// It has no characters at all.
    Empty,
    /// It has more bytes than the limit.
    TooLong {
        /// Its length in bytes.
        len: usize,
        /// The longest allowed.
        limit: usize,
    },
    /// It is `run`, the key of the run's input.
    Reserved,
    /// It holds this character, in a place where the rule forbids it.
    Character(char),
}

impl fmt::Display for InvalidSlug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("it is empty"),
            Self::TooLong { len, limit } => {
                write!(f, "it has {len} bytes, and the limit is {limit}")
            }
            Self::Reserved => f.write_str("it is reserved for the run's input"),
            Self::Character(c) => write!(
                f,
                "`{c}` is not allowed here: use letters, digits and `_`, not starting with a digit"
            ),
        }
    }
}

impl std::error::Error for InvalidSlug {}

/// Checks the slug of a flow against the rule the database enforces too.
///
/// ```
/// assert!(pgflow_model::check_flow_slug("orders").is_ok());
/// assert!(pgflow_model::check_flow_slug(&"o".repeat(48)).is_err());
/// ```
pub fn check_flow_slug(slug: &str) -> Result<(), InvalidSlug> {
    check(slug, MAX_FLOW_SLUG)
}

/// Checks the slug of a step against the rule the database enforces too.
///
/// ```
/// assert!(pgflow_model::check_step_slug("fetch_user").is_ok());
/// assert!(pgflow_model::check_step_slug("fetch-user").is_err());
/// ```
pub fn check_step_slug(slug: &str) -> Result<(), InvalidSlug> {
    check(slug, MAX_STEP_SLUG)
}

fn check(slug: &str, limit: usize) -> Result<(), InvalidSlug> {
    let first = slug.chars().next().ok_or(InvalidSlug::Empty)?;
    if first.is_ascii_digit() {
        return Err(InvalidSlug::Character(first));
    }
    if let Some(c) = slug.chars().find(|c| !c.is_ascii_alphanumeric() && *c != '_') {
        return Err(InvalidSlug::Character(c));
    }
    if slug.len() > limit {
        return Err(InvalidSlug::TooLong { len: slug.len(), limit });
    }
    if slug == RESERVED {
        return Err(InvalidSlug::Reserved);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_identifiers() {
        for slug in ["a", "_a", "fetchUser", "step_2", "Run"] {
            assert_eq!(check_step_slug(slug), Ok(()), "{slug}");
        }
    }

    #[test]
    fn refuses_everything_else() {
        for (slug, why) in [
            ("", InvalidSlug::Empty),
            ("2nd", InvalidSlug::Character('2')),
            ("fetch-user", InvalidSlug::Character('-')),
            ("größe", InvalidSlug::Character('ö')),
            ("run", InvalidSlug::Reserved),
        ] {
            assert_eq!(check_step_slug(slug), Err(why), "{slug}");
        }
    }

    #[test]
    fn a_flow_has_a_shorter_limit_than_a_step() {
        let (fits, too_long) = ("a".repeat(47), "a".repeat(48));
        assert_eq!(check_flow_slug(&fits), Ok(()));
        assert_eq!(check_flow_slug(&too_long), Err(InvalidSlug::TooLong { len: 48, limit: 47 }));
        assert_eq!(check_step_slug(&"a".repeat(128)), Ok(()));
        assert!(check_step_slug(&"a".repeat(129)).is_err());
    }
}
