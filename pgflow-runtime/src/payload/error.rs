//! Why a Rust value is not JSON, and where.

use std::fmt;

use serde_json::Value;

/// Why a Rust value can't be stored. Paths are like `$.lines[3].price`.
///
/// ```
/// # use pgflow::prelude::*;
/// # #[flow(input = Vec<f64>)] mod sum { #[step] pub async fn all(run: Vec<f64>) -> pgflow::Result<f64> { Ok(run.iter().sum()) } }
/// let error = sum::Flow::start(&vec![1.0, f64::NAN]).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "cannot store the run's input: the number at $[1] is NaN, which JSON has no form for",
/// );
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// A number is not finite.
    #[error("the number at {path} is {number}, which JSON has no form for")]
    NotFinite {
        /// Where.
        path: String,
        /// `NaN`, `inf` or `-inf`.
        number: String,
    },
    /// A number does not fit 64 bits.
    #[error("the number at {path} is {number}, which does not fit 64 bits")]
    TooBig {
        /// Where.
        path: String,
        /// The number.
        number: String,
    },
    /// More levels than can be read back.
    #[error("the value at {path} is nested deeper than {limit} levels")]
    TooDeep {
        /// Where the limit is passed.
        path: String,
        /// The limit.
        limit: usize,
    },
    /// A type's own `Serialize` gave up, or a key of a map is not a text.
    #[error("the value at {path} has no form in JSON: {reason}")]
    Other {
        /// Where.
        path: String,
        /// Why.
        reason: String,
    },
}

pgflow_model::debug_with_causes!(WriteError);

/// A step on the way to a value.
#[derive(Debug)]
pub(super) enum PathSegment {
    Key(String),
    Index(usize),
}

/// A failure on its way up: each level adds where it was.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) why: Why,
    /// From the inside out.
    path: Vec<PathSegment>,
}

#[derive(Debug)]
pub(super) enum Why {
    NotFinite(f64),
    TooBig(String),
    TooDeep(usize),
    Other(String),
}

impl Failed {
    pub(super) fn new(why: Why) -> Self {
        Self { why, path: Vec::new() }
    }

    pub(super) fn below(mut self, part: PathSegment) -> Self {
        self.path.push(part);
        self
    }

    pub(super) fn finish(self) -> WriteError {
        let path = self.path();
        match self.why {
            Why::NotFinite(number) => WriteError::NotFinite { path, number: number.to_string() },
            Why::TooBig(number) => WriteError::TooBig { path, number },
            Why::TooDeep(limit) => WriteError::TooDeep { path, limit },
            Why::Other(reason) => WriteError::Other { path, reason },
        }
    }

    fn path(&self) -> String {
        let part = |part: &PathSegment| match part {
            PathSegment::Key(key) if is_plain(key) => format!(".{key}"),
            PathSegment::Key(key) => format!("[{}]", Value::from(key.as_str())),
            PathSegment::Index(index) => format!("[{index}]"),
        };
        std::iter::once("$".to_owned()).chain(self.path.iter().rev().map(part)).collect()
    }
}

fn is_plain(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || c == '_')
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.why)
    }
}

impl std::error::Error for Failed {}

impl serde::ser::Error for Failed {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(Why::Other(message.to_string()))
    }
}
