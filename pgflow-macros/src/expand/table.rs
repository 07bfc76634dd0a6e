//! The table of steps: what a worker needs to know of them.

use pgflow_model::{OnSkip, StepKind, StepOptions};
use pgflow_syntax::{ConditionArg, Source, Step, pretty};
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::Type;

use super::Expand;

impl Expand<'_> {
    /// Every step that can be called, each after everything it depends on.
    pub(super) fn table(&self) -> TokenStream {
        let pgflow = &self.pgflow;
        let steps = self.flow.order.iter().map(|&at| &self.flow.steps[at]);
        let names = steps.filter(|step| step.is_sound).map(Step::name);
        let flow_type = &self.flow.type_name;
        // An associated constant is only evaluated where it is used; a plain one by every check.
        quote! {
            impl #flow_type {
                pub(super) const __STEPS: &'static [#pgflow::StepDef] = &[#(<#names as #pgflow::Step>::DEF),*];
            }
        }
    }

    /// An entry: what the step says, and nothing for what it leaves as it is.
    pub(super) fn entry(&self, step: &Step<'_>, output: &Type) -> TokenStream {
        let (pgflow, name) = (&self.pgflow, step.name());
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
        let (depends_on, needs) = (self.depends_on(step), self.needs(step));
        let schema = self.flow.has_schema.then(|| {
            let schema = self.schema(&output.to_token_stream(), &quote!(Described<#name>));
            quote!(output_schema: #schema,)
        });
        // A step that is wrong in some way has no call, but others may still name it.
        let call = self.is_callable(step).then(|| {
            let call = format_ident!("__call_{}", name);
            quote!(call: #call,)
        });
        let takes_tx = step.takes(Source::Transaction).then(|| quote!(takes_tx: true,));
        let takes_run = step.takes(Source::Run).then(|| quote!(takes_run: true,));
        let (slug, output) = (&step.slug, pretty(output));
        quote! {
            #pgflow::StepDef {
                slug: #slug,
                #kind #depends_on #only_if #unless #unmet #exhausted #options
                output_type: #output,
                #needs #takes_tx #takes_run #schema #call
                ..#pgflow::StepDef::PLAIN
            }
        }
    }

    /// Naming each dependency as written makes it a link in editors.
    fn depends_on(&self, step: &Step<'_>) -> Option<TokenStream> {
        let pgflow = &self.pgflow;
        let deps = step.depends_on.iter().map(|dep| &dep.ident);
        let slugs = quote!(depends_on: &[#(<#deps as #pgflow::Step>::SLUG),*],);
        (!step.depends_on.is_empty()).then_some(slugs)
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
