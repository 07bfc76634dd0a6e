//! The table of steps: what a worker needs to know of them.

use pgflow_model::{OnSkip, StepKind, StepOptions};
use pgflow_syntax::{ConditionArg, Param, Source, Step, pretty};
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};

use super::Expand;

impl Expand<'_> {
    /// Every step that can be called, each after everything it depends on.
    pub(super) fn table(&self) -> TokenStream {
        let pgflow = &self.pgflow;
        let steps = self.flow.order.iter().map(|&at| &self.flow.steps[at]);
        let entries = steps.filter(|step| step.is_sound).filter_map(|step| self.entry(step));
        let flow_type = &self.flow.type_name;
        // An associated constant is only evaluated where it is used; a plain one by every check.
        quote! {
            impl #flow_type {
                pub(super) const __STEPS: &'static [#pgflow::StepDef] = &[#(#entries),*];
            }
        }
    }

    /// An entry: what the step says, and nothing for what it leaves as it is.
    fn entry(&self, step: &Step<'_>) -> Option<TokenStream> {
        let (pgflow, name, output) = (&self.pgflow, step.name(), step.output?);
        let private = quote!(#pgflow::__private);
        let kind = (step.kind() == StepKind::Map).then(|| quote!(kind: #private::StepKind::Map,));
        let only_if = condition("only_if", step.only_if.as_ref());
        let unless = condition("unless", step.unless.as_ref());
        let unmet = self.policy("when_unmet", step.when_unmet, OnSkip::Skip);
        let exhausted = self.policy("when_exhausted", step.when_exhausted, OnSkip::Fail);
        let options = (step.options != StepOptions::INHERIT).then(|| {
            let options = self.options(step.options);
            quote!(options: #options,)
        });
        let (depends_on, takes, needs) =
            (self.depends_on(step), self.takes(step), self.needs(step));
        let schema = self.flow.has_schema.then(|| {
            let schema = self.schema(&output.to_token_stream(), &quote!(Described<#name>));
            quote!(output_schema: #schema,)
        });
        let (call, output) = (format_ident!("__call_{}", name), pretty(output));
        Some(quote! {
            #pgflow::StepDef {
                #kind #depends_on #takes #only_if #unless #unmet #exhausted #options #needs #schema
                ..#pgflow::StepDef::new::<#name>(#call, #output)
            }
        })
    }

    /// Naming each dependency as written makes it a link in editors.
    fn depends_on(&self, step: &Step<'_>) -> Option<TokenStream> {
        let pgflow = &self.pgflow;
        let deps = step.depends_on.iter().map(|dep| &dep.ident);
        let slugs = quote!(depends_on: &[#(<#deps as #pgflow::Step>::SLUG),*],);
        (!step.depends_on.is_empty()).then_some(slugs)
    }

    fn takes(&self, step: &Step<'_>) -> Option<TokenStream> {
        let pgflow = &self.pgflow;
        let take = |param: &Param<'_>| match param.source {
            Source::Run => Some(quote!(#pgflow::Take::Run)),
            Source::RunItem | Source::OutputItem(_) => Some(quote!(#pgflow::Take::Item)),
            Source::Output(at) => {
                let slug = &self.flow.steps[at].slug;
                Some(quote!(#pgflow::Take::Output(#slug)))
            }
            Source::OptionalOutput(at) => {
                let slug = &self.flow.steps[at].slug;
                Some(quote!(#pgflow::Take::OptionalOutput(#slug)))
            }
            Source::Context | Source::State => None,
        };
        let takes: Vec<_> = step.params.iter().filter_map(take).collect();
        (!takes.is_empty()).then(|| quote!(takes: &[#(#takes),*],))
    }

    fn needs(&self, step: &Step<'_>) -> Option<TokenStream> {
        let (pgflow, name) = (&self.pgflow, step.name());
        let states = step.params.iter().filter(|param| param.source == Source::State);
        let types: Vec<_> = states.map(|param| param.ty).collect();
        let needs = types.iter().map(|ty| quote!(<#ty as #pgflow::check::IsState<#name>>::NEED));
        (!types.is_empty()).then(|| quote!(needs: &[#(#needs),*],))
    }

    fn policy(&self, option: &str, mode: OnSkip, default: OnSkip) -> Option<TokenStream> {
        let (pgflow, option) = (&self.pgflow, format_ident!("{option}"));
        let variant = format_ident!("{mode:?}");
        (mode != default).then(|| quote!(#option: #pgflow::__private::OnSkip::#variant,))
    }

    pub(super) fn options(&self, options: StepOptions) -> TokenStream {
        let pgflow = &self.pgflow;
        let set: Vec<_> = options
            .set()
            .map(|(name, value)| {
                let name = format_ident!("{name}");
                quote!(#name: ::core::option::Option::Some(#value),)
            })
            .collect();
        let inherit = quote!(#pgflow::__private::StepOptions::INHERIT);
        if set.is_empty() {
            return inherit;
        }
        quote!(#pgflow::__private::StepOptions { #(#set)* ..#inherit })
    }
}

fn condition(option: &str, arg: Option<&ConditionArg>) -> Option<TokenStream> {
    let (option, text) = (format_ident!("{option}"), arg?.pattern.to_string());
    Some(quote!(#option: ::core::option::Option::Some(#text),))
}
