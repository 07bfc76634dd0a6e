//! The table of steps: what a worker needs to know of them.

use pgflow_model::{OnSkip, StepKind, StepOptions};
use pgflow_syntax::{ConditionArg, Permits, Source, Step, pretty};
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};

use super::{Expand, short};

impl Expand<'_> {
    /// Every step that can be called, each after everything it depends on.
    pub(super) fn table(&self) -> TokenStream {
        let (private, flow_type) = (short(), &self.flow.type_name);
        let entries = self.in_table().map(|at| self.entry(&self.flow.steps[at]));
        quote! {
            impl<__Any> #private::Table<__Any> for #flow_type {
                const STEPS: &'static [#private::StepDef] = &[#(#entries),*];
            }
        }
    }

    fn in_table(&self) -> impl Iterator<Item = usize> {
        let order = self.flow.order.iter().copied();
        order.filter(|&at| self.is_callable(&self.flow.steps[at]))
    }

    /// Where in the table each step is, if it is there.
    pub(super) fn places(&self) -> Vec<Option<usize>> {
        let mut places = vec![None; self.flow.steps.len()];
        for (place, at) in self.in_table().enumerate() {
            places[at] = Some(place);
        }
        places
    }

    /// An entry: what the step says, and nothing for what it leaves as it is.
    fn entry(&self, step: &Step<'_>) -> TokenStream {
        let (private, slug) = (short(), &step.slug);
        let call = format_ident!("__call_{}", step.name());
        let (output, kept) =
            step.output.map(|output| (pretty(output.written()), self.kept(step, output))).unzip();
        let deps = step.depends_on.iter().map(|dep| &self.flow.steps[dep.step].slug);
        let more = more(step);
        quote!(#private::StepDef::of(#slug, &[#(#deps),*], #output, #kept, #call) #more)
    }
}

/// What most steps leave as it is. Calls, because the compiler has more to do with `..` in a table.
fn more(step: &Step<'_>) -> TokenStream {
    let private = short();
    let map = (step.kind() == StepKind::Map).then(|| quote!(.map()));
    let only_if = step.only_if.as_ref().map(|arg| condition("only_if", arg));
    let unless = step.unless.as_ref().map(|arg| condition("unless", arg));
    let unmet = policy("when_unmet", step.when_unmet, OnSkip::Skip);
    let exhausted = policy("when_exhausted", step.when_exhausted, OnSkip::Fail);
    let options = (step.options != StepOptions::INHERIT).then(|| {
        let options = options(&private.to_token_stream(), step.options);
        quote!(.options(#options))
    });
    let needs = needs(step);
    let takes_tx = step.takes(Source::Transaction).then(|| quote!(.takes_tx()));
    let takes_run = step.takes(Source::Run).then(|| quote!(.takes_run()));
    let has_stream = step.takes(Source::Stream).then(|| quote!(.has_stream()));
    let waits = step.waiting.is_some().then(|| {
        let hook = step.takes(Source::Hook);
        quote!(.waits(#hook))
    });
    let Permits { resources, rate } = &step.permits;
    let resources = (!resources.is_empty()).then(|| quote!(.resources(&[#(#resources),*])));
    let rate = rate.as_ref().map(|rate| quote!(.rate(#rate)));
    quote!(
        #map #only_if #unless #unmet #exhausted #options #needs #takes_tx #takes_run #has_stream #waits #resources #rate
    )
}

fn needs(step: &Step<'_>) -> Option<TokenStream> {
    let private = short();
    let states = step.params.iter().filter(|param| param.source == Source::State);
    let types: Vec<_> = states.map(|param| param.ty).collect();
    (!types.is_empty()).then(|| {
        quote!(.needs({
            #[allow(unused_imports)]
            use #private::Unneeded as _;
            &[#(<#private::Needed<#types>>::NEED),*]
        }))
    })
}

fn policy(option: &str, mode: OnSkip, default: OnSkip) -> Option<TokenStream> {
    let (private, option) = (short(), format_ident!("{option}"));
    let variant = format_ident!("{mode:?}");
    (mode != default).then(|| quote!(.#option(#private::OnSkip::#variant)))
}

/// Options that are set; `private` is the path of `pgflow::__private`.
pub(super) fn options(private: &TokenStream, options: StepOptions) -> TokenStream {
    let set: Vec<_> = options
        .set()
        .map(|(name, value)| {
            let name = format_ident!("{name}");
            quote!(#name: ::core::option::Option::Some(#value),)
        })
        .collect();
    let inherit = quote!(#private::StepOptions::INHERIT);
    if set.is_empty() {
        return inherit;
    }
    quote!(#private::StepOptions { #(#set)* ..#inherit })
}

fn condition(option: &str, arg: &ConditionArg) -> TokenStream {
    let (option, text) = (format_ident!("{option}"), arg.pattern.to_string());
    quote!(.#option(#text))
}
