//! Inputs and outputs that have all traits, and cannot be stored nevertheless.

use std::collections::HashSet;

use pgflow_syntax::{Output, pretty};
use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote};

use super::{Expand, short};
use crate::storable;

impl Expand<'_> {
    /// A constant for each type that needs a look: it fails to evaluate if that cannot be stored.
    pub(super) fn storable(&self) -> Option<TokenStream> {
        let private = short().to_token_stream();
        let mut seen = HashSet::new();
        let outputs = self.flow.steps.iter().filter(|step| !step.is_duplicate);
        let outputs = outputs.filter_map(|step| match step.output? {
            Output::Spelled(ty) => Some((step.name(), ty)),
            Output::Behind(_) => None,
        });
        let checks = outputs.filter_map(|(name, ty)| {
            let text = pretty(ty);
            let what = format!("step `{name}` outputs `{text}`");
            storable::check(&what, ty, &private).filter(|_| seen.insert(text))
        });
        constants(checks.collect(), &private)
    }

    /// The same for the run's input, where its type means what it meant.
    pub(super) fn storable_input(&self, private: &TokenStream) -> Option<TokenStream> {
        let (_, ty) = self.flow.input.as_ref()?;
        let what = format!("the input of flow `{}` is `{}`", self.flow.item.ident, pretty(ty));
        constants(storable::check(&what, ty, private).into_iter().collect(), private)
    }
}

/// The compiler shows the constants' name.
fn constants(checks: Vec<TokenStream>, private: &TokenStream) -> Option<TokenStream> {
    if checks.is_empty() {
        return None;
    }
    let checks = checks.into_iter().map(|check| {
        quote! {
            const _: () = {
                #[allow(dead_code, non_upper_case_globals)]
                const can_be_stored: () = { #check };
            };
        }
    });
    Some(quote! {
        const _: () = {
            #[allow(unused_imports)]
            use #private::Unknown as _;
            #(#checks)*
        };
    })
}
