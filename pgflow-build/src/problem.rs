//! What a user has to put right.

use std::fmt;

use crate::location::SourceLocation;

/// What a user has to put right, with the words of the macro where it has some.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where it is, if it is in the source.
    pub place: Option<SourceLocation>,
    /// What is wrong, and below that what to do.
    pub text: String,
    /// Whether the compiler reports it too, with the source underlined.
    pub is_reported_by_compiler: bool,
    /// Whether the parser found it, which may know less of the language than the compiler.
    pub(crate) is_of_parser: bool,
}

impl Problem {
    /// One that only shows when all files are seen together.
    pub fn new(place: Option<SourceLocation>, text: impl Into<String>) -> Self {
        Self { place, text: text.into(), is_reported_by_compiler: false, is_of_parser: false }
    }

    /// One that the compiler shows, and better.
    pub(crate) fn of_compiler(place: SourceLocation, text: impl Into<String>) -> Self {
        Self {
            place: Some(place),
            text: text.into(),
            is_reported_by_compiler: true,
            is_of_parser: false,
        }
    }

    /// One of the syntax.
    pub(crate) fn of_parser(place: SourceLocation, why: &syn::Error) -> Self {
        Self { is_of_parser: true, ..Self::of_compiler(place, format!("this is not Rust: {why}")) }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.text)
    }
}
