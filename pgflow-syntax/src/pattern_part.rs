//! The values in a pattern, and where they were written.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use serde_json::{Number, Value};

/// A value in a pattern.
#[derive(Clone)]
pub struct PatternPart {
    /// The way to it from the outermost object.
    pub path: Vec<PathSegment>,
    /// What it is.
    pub wanted: Wanted,
    /// Where its place was written: the key, or the value itself if it is an element.
    pub span: Span,
    /// Where it was written.
    pub value: Extent,
}

/// From the first of some tokens to the last.
#[derive(Clone, Copy)]
pub struct Extent {
    /// The first token.
    pub first: Span,
    /// The last one.
    pub last: Span,
}

impl From<Span> for Extent {
    fn from(span: Span) -> Self {
        Self { first: span, last: span }
    }
}

/// Two tokens that stand for all of them.
impl ToTokens for Extent {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { first, last } = *self;
        tokens.extend(quote_spanned!(first=> _));
        tokens.extend(quote_spanned!(last=> _));
    }
}

/// Where to go from a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathSegment {
    /// To the field of this name.
    Field(String),
    /// To an element.
    Element,
}

/// A value that a pattern asks for, as far as types can have it or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// This whole number.
    Integer(i128),
    /// Another number.
    Fraction,
    /// This text.
    Text(String),
    /// An array.
    Array,
    /// An object.
    Object,
}

impl Wanted {
    fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Boolean,
            Value::Number(number) => Self::number(number),
            Value::String(text) => Self::Text(text.clone()),
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        }
    }

    /// `2.0` is the same number as `2`.
    fn number(number: &Number) -> Self {
        let text = number.to_string();
        let whole = text.strip_suffix(".0").unwrap_or(&text);
        whole.parse().map_or(Self::Fraction, Self::Integer)
    }
}

/// The parts of a pattern, as they are found.
#[derive(Default)]
pub(crate) struct Parts {
    pub(crate) all: Vec<PatternPart>,
    path: Vec<PathSegment>,
}

impl Parts {
    /// Adds the value that `read` finds at `place`, before those it holds.
    pub(crate) fn add(
        &mut self,
        place: PathSegment,
        span: Span,
        value: Extent,
        read: impl FnOnce(&mut Self) -> syn::Result<Value>,
    ) -> syn::Result<Value> {
        self.path.push(place);
        let at = self.all.len();
        self.all.push(PatternPart { path: self.path.clone(), wanted: Wanted::Null, span, value });
        let read = read(self)?;
        self.all[at].wanted = Wanted::of(&read);
        self.path.pop();
        Ok(read)
    }

    /// Adds what a value holds, if the pattern is one literal: all of it is written where that is.
    pub(crate) fn add_all(&mut self, value: &Value, span: Span) {
        let held: Vec<_> = match value {
            Value::Object(fields) => {
                fields.iter().map(|(key, value)| (PathSegment::Field(key.clone()), value)).collect()
            }
            Value::Array(items) => items.iter().map(|item| (PathSegment::Element, item)).collect(),
            _ => Vec::new(),
        };
        for (place, value) in held {
            self.path.push(place);
            let (path, wanted) = (self.path.clone(), Wanted::of(value));
            self.all.push(PatternPart { path, wanted, span, value: span.into() });
            self.add_all(value, span);
            self.path.pop();
        }
    }
}
