//! Collects problems, so that a user sees all of them at once.

use std::fmt::Display;

use proc_macro2::Span;
use quote::ToTokens;

/// A list of problems, in the order they were found.
#[derive(Debug, Default)]
pub struct Errors(Vec<syn::Error>);

impl Errors {
    /// Reports a problem at the tokens it is about.
    pub fn at(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.0.push(syn::Error::new_spanned(tokens, message));
    }

    /// Reports a problem at a single place.
    pub fn push(&mut self, at: Span, message: impl Display) {
        self.0.push(syn::Error::new(at, message));
    }

    /// Keeps a value, or reports why there is none.
    pub fn keep<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.0.push(error)).ok()
    }

    /// Adds the problems of a part to those of the whole.
    pub fn append(&mut self, part: Self) {
        self.0.extend(part.0);
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All problems as one error.
    pub fn finish(self) -> Option<syn::Error> {
        self.0.into_iter().reduce(|mut all, next| {
            all.combine(next);
            all
        })
    }
}
