//! What a user has to put right.

use std::fmt;

use crate::place::Place;

/// What a user has to put right, with the words of the macro where it has some.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where it is, if it is in the source.
    pub place: Option<Place>,
    /// What is wrong, and below that what to do.
    pub text: String,
    /// Whether the macro reports it too, with the source underlined.
    pub is_reported_by_macro: bool,
}

impl Problem {
    /// One that only shows when all files are seen together.
    pub(crate) fn new(place: Option<Place>, text: impl Into<String>) -> Self {
        Self { place, text: text.into(), is_reported_by_macro: false }
    }

    /// One that the compiler shows, and better.
    pub(crate) fn of_macro(place: Place, text: impl Into<String>) -> Self {
        Self { place: Some(place), text: text.into(), is_reported_by_macro: true }
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
