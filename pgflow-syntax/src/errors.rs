//! Collects problems, so that a user sees all of them at once.

use std::fmt::Display;

use proc_macro2::Span;
use quote::ToTokens;

/// A list of problems, in the order they were found.
#[derive(Debug, Default)]
pub struct Errors {
    found: Vec<syn::Error>,
    left: Vec<syn::Error>,
}

impl Errors {
    /// Reports a problem at the tokens it is about.
    pub fn at(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.found.push(syn::Error::new_spanned(tokens, message));
    }

    /// Reports a problem at a single place.
    pub fn push(&mut self, at: Span, message: impl Display) {
        self.found.push(syn::Error::new(at, message));
    }

    /// Keeps a value, or reports why there is none.
    pub fn keep<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.found.push(error)).ok()
    }

    /// Adds the problems of a part to those of the whole.
    pub fn append(&mut self, part: Self) {
        self.found.extend(part.found);
        self.left.extend(part.left);
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty() && self.left.is_empty()
    }

    /// Reports something that the compiler reports as well, in its own words.
    pub(crate) fn left_to_compiler(&mut self, error: syn::Error) {
        self.left.push(error);
    }

    /// Takes what the compiler has its own words for.
    pub fn take_left_to_compiler(&mut self) -> Vec<syn::Error> {
        std::mem::take(&mut self.left)
    }

    /// All problems as one error.
    pub fn finish(self) -> Option<syn::Error> {
        self.left.into_iter().chain(self.found).reduce(|mut all, next| {
            all.combine(next);
            all
        })
    }
}
