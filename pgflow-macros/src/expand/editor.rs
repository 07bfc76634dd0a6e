//! What only an editor needs: every word of an attribute names an item, so that it can be completed and described.

use pgflow_syntax::{AttributeWords, Step};
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::Meta;

use super::{Expand, short};
use crate::editor::is_editor;

impl Expand<'_> {
    /// For code of the module.
    pub(super) fn for_editor(&self) -> Option<TokenStream> {
        if !is_editor() {
            return None;
        }
        let names = self.flow.steps.iter().filter(|step| !step.is_duplicate).map(Step::name);
        let steps = self.flow.item.steps().map(|step| self.words(&step.marker));
        let (options, private) = (AttributeWords::of(self.args.clone()).options, short());
        Some(quote! {
            #[allow(unused_imports)]
            mod __steps {
                #(pub(super) use super::#names;)*
            }
            #[allow(path_statements)]
            const _: fn() = || {
                #(#private::flow_options::#options;)*
                #(#steps)*
            };
        })
    }

    /// The words of `#[step(…)]`. Names that are steps are used elsewhere already.
    fn words(&self, marker: &syn::Attribute) -> TokenStream {
        let (private, pgflow) = (short(), &self.pgflow);
        let step = marker.path().segments.last().map(|last| &last.ident);
        let arguments = match &marker.meta {
            Meta::List(list) => list.tokens.clone(),
            _ => TokenStream::new(),
        };
        let AttributeWords { options, dependencies } = AttributeWords::of(arguments);
        let unknown = dependencies.iter().filter(|name| !self.is_step(name));
        quote! {
            const _: () = { use #pgflow::#step as _; };
            #(#private::step_options::#options;)*
            #(__steps::#unknown;)*
        }
    }

    fn is_step(&self, name: &Ident) -> bool {
        self.flow.steps.iter().any(|step| step.name() == name)
    }
}
