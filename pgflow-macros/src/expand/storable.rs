//! Inputs and outputs that have all traits, and cannot be stored nevertheless.

use std::collections::HashSet;

use pgflow_syntax::{Output, Source, Step, chunk_of, is_suspect, pretty};
use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote};

use super::{Expand, short};
use crate::storable;

impl Expand<'_> {
    /// A constant for each type that needs a look: it fails to evaluate if that cannot be stored.
    pub(super) fn storable(&self) -> Option<TokenStream> {
        let private = short().to_token_stream();
        let mut seen = HashSet::new();
        let steps = self.flow.steps.iter().filter(|step| !step.is_duplicate);
        let checks =
            steps.flat_map(|step| output(step, &private).into_iter().chain(chunk(step, &private)));
        let checks = checks.filter(|(text, _)| seen.insert(text.clone()));
        let checks: Vec<_> = checks.map(|(_, check)| check).collect();
        storable::constants(&checks, &private)
    }

    /// The same for the run's input, where its type means what it meant.
    pub(super) fn storable_input(&self, private: &TokenStream) -> Option<TokenStream> {
        let (_, ty) = self.flow.input.as_ref()?;
        let what = format!("the input of flow `{}` is `{}`", self.flow.item.ident, pretty(ty));
        let check: Vec<_> = storable::check(&what, ty, private).into_iter().collect();
        storable::constants(&check, private)
    }
}

/// A check of what a step outputs, and the type it is about.
fn output(step: &Step<'_>, private: &TokenStream) -> Option<(String, TokenStream)> {
    let (name, output) = (step.name(), step.output?);
    let text = pretty(output.written());
    let check = match output {
        Output::Spelled(ty) => {
            storable::check(&format!("step `{name}` outputs `{text}`"), ty, private)?
        }
        Output::Behind(ty) => {
            let of = quote!(<#name as #private::Step>::TaskOutput);
            let what = format!("step `{name}` outputs what `{text}` holds");
            storable::check_behind(&what, &of, ty, private)
        }
    };
    Some((text, check))
}

/// The same for what it sends through its stream.
fn chunk(step: &Step<'_>, private: &TokenStream) -> Option<(String, TokenStream)> {
    let (name, stream) = (step.name(), step.params.iter().find(|it| it.source == Source::Stream)?);
    let (text, ty) = (pretty(stream.ty), stream.ty);
    if !chunk_of(ty).is_none_or(is_suspect) {
        return None;
    }
    let of = quote!(<#name as #private::Emits>::Chunk);
    let what = format!("the stream of step `{name}` is `{text}`");
    Some((text, storable::check_behind(&what, &of, ty, private)))
}
