//! The value of a parameter, checked against where it comes from.

use pgflow_syntax::{Param, Source, Step};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::Expand;
use crate::span::{function, item_of, shown_at};

impl Expand<'_> {
    pub(super) fn argument(&self, step: &Step<'_>, param: &Param<'_>) -> TokenStream {
        let (pgflow, ty, consumer) = (&self.pgflow, param.ty, step.name());
        let steps = &self.flow.steps;
        match param.source {
            Source::Output(at) => {
                let dep = steps[at].name();
                let rule = if steps[at].map.is_some() { "OutputsAll" } else { "Outputs" };
                self.edge(rule, dep, param, consumer)
            }
            Source::OptionalOutput(at) => self.edge("MayOutput", steps[at].name(), param, consumer),
            Source::OutputItem(at) => {
                let dep = steps[at].name();
                let output = quote!(<#dep as #pgflow::Step>::Output);
                let rule = quote!(#pgflow::check::OutputsSequence<#output, #consumer>);
                let item = item_of(dep, &rule, &step.depends_on[0].ident);
                self.item("OutputsItems", dep, &item, param, consumer)
            }
            Source::RunItem => {
                let flow = &self.flow.type_name;
                let input = quote!(<#flow as #pgflow::Flow>::Input);
                let rule = quote!(#pgflow::check::HasSequenceInput<#input, #consumer>);
                let item = item_of(flow, &rule, &step.map);
                self.item("HasInputItems", flow, &item, param, consumer)
            }
            Source::Run => {
                let flow = &self.flow.type_name;
                let input = quote!(<#flow as #pgflow::Flow>::Input);
                let rule = quote!(#pgflow::check::HasInput<#ty, #input, #consumer>);
                let take = function(shown_at(flow, pgflow, ty), &rule, "take", ty);
                quote!(#take(task)?)
            }
            Source::Context => self.extractor("IsContext", param, consumer),
            Source::State => self.extractor("IsState", param, consumer),
            Source::Transaction => quote!(__lent.get()),
        }
    }

    /// The output of a step, under the rule between it and the parameter.
    fn edge(&self, rule: &str, dep: &Ident, param: &Param<'_>, consumer: &Ident) -> TokenStream {
        let (pgflow, ty, rule) = (&self.pgflow, param.ty, format_ident!("{rule}"));
        let output = quote!(<#dep as #pgflow::Step>::Output);
        let rule = quote!(#pgflow::check::#rule<#ty, #output, #consumer>);
        let take = function(shown_at(dep, pgflow, ty), &rule, "take", ty);
        quote!(#take(task)?)
    }

    /// An element, under the rule between it and the parameter.
    fn item(
        &self,
        rule: &str,
        of: &Ident,
        item: &TokenStream,
        param: &Param<'_>,
        consumer: &Ident,
    ) -> TokenStream {
        let (pgflow, ty, rule) = (&self.pgflow, param.ty, format_ident!("{rule}"));
        let rule = quote!(#pgflow::check::#rule<#ty, #item, #consumer>);
        let pass = function(shown_at(of, pgflow, ty), &rule, "pass", ty);
        let read = function(ty, &quote!(#pgflow::check::ReadItem<#consumer>), "read", ty);
        quote!(#pass(task.item(#read)?))
    }

    fn extractor(&self, rule: &str, param: &Param<'_>, consumer: &Ident) -> TokenStream {
        let (pgflow, ty, rule) = (&self.pgflow, param.ty, format_ident!("{rule}"));
        let rule = quote!(#pgflow::check::#rule<#consumer>);
        let from_task = function(ty, &rule, "from_task", ty);
        quote!(#from_task(task)?)
    }
}
