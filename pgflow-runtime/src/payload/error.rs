//! Why a Rust value is not JSON, and where.

use std::fmt;

use pgflow_machine::PayloadError;
use serde_json::Value;

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

    pub(super) fn finish(self) -> PayloadError {
        let path = self.path();
        match self.why {
            Why::NotFinite(number) => PayloadError::NotFinite { path, number: number.to_string() },
            Why::TooBig(number) => PayloadError::TooBig { path, number },
            Why::TooDeep(limit) => PayloadError::TooDeep { path, limit },
            Why::Other(reason) => PayloadError::NotJson { path, reason },
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
