//! A step's type, and the function that calls it.

use pgflow_model::StepKind;
use pgflow_syntax::{Source, Step, has_name, pretty};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Type, parse_quote};

use super::Expand;
use super::visibility::narrower;
use crate::span::{function, marker};

impl Expand<'_> {
    /// A step's type and, if it can be called, the function that calls it.
    pub(super) fn step(&self, step: &Step<'_>) -> TokenStream {
        // A step that does not say what it outputs still has a type, since others may name it.
        let unit = parse_quote!(());
        let output = step.output.unwrap_or(&unit);
        let name = step.name();
        let vis = narrower(&step.item.vis, &self.flow.item.vis, &self.flow.item.ident);
        let marker = marker(&vis, "enum", name, &quote!({}), Some(&step.item.sig.output));
        let doc = format!("`{}`", pretty(&step.item.sig));
        let impl_step = self.impl_step(step, output);
        let call = if self.is_callable(step) { self.call(step) } else { self.links(step) };
        let conditions = self.conditions(step);
        quote! {
            #[doc(hidden)]
            #[doc = #doc]
            #[allow(non_camel_case_types, dead_code, missing_copy_implementations, missing_debug_implementations)]
            #marker

            #impl_step
            #call
            #conditions
        }
    }

    /// Whether a call can be generated: nothing is wrong with the step, and what its dependencies
    /// output is known.
    pub(super) fn is_callable(&self, step: &Step<'_>) -> bool {
        let mut deps = step.depends_on.iter().map(|dep| &self.flow.steps[dep.step]);
        step.is_sound && deps.all(|dep| dep.output.is_some())
    }

    fn impl_step(&self, step: &Step<'_>, output: &Type) -> TokenStream {
        let pgflow = &self.pgflow;
        let (name, slug, flow_type) = (step.name(), &step.slug, &self.flow.type_name);
        let (seen, read) = match step.kind() {
            StepKind::Single => (quote!(#output), "read"),
            StepKind::Map => (quote!(::std::vec::Vec<#output>), "read_all"),
        };
        let read = function(output, &quote!(#pgflow::check::ReadBack<Self>), read, output);
        let write = function(output, &quote!(#pgflow::check::Stored<Self>), "write", output);
        let def = self.entry(step, output);
        quote! {
            impl #pgflow::Step for #name {
                type Flow = #flow_type;
                type TaskOutput = #output;
                type Output = #seen;
                const SLUG: &'static str = #slug;
                const JSON: #pgflow::__private::Json<#output, #seen> =
                    #pgflow::__private::Json { read: #read, write: #write };
                const DEF: #pgflow::StepDef = #def;
            }
        }
    }

    fn call(&self, step: &Step<'_>) -> TokenStream {
        let (name, pgflow) = (step.name(), &self.pgflow);
        let call = format_ident!("__call_{}", name);
        let (before, future) = self.future(step);
        let inferred = quote_spanned!(step.result_span=> _);
        let rule = quote!(#pgflow::check::IsResult<_, _, #name>);
        let into_result = function(&inferred, &rule, "into_result", &inferred);
        let shown = step.error.map_or_else(|| inferred.clone(), ToTokens::to_token_stream);
        // Such as `impl Error`, which is another type wherever it is written.
        let error = step.error.filter(|ty| has_name(ty)).map_or(inferred, |_| shown.clone());
        let report = function(&error, &quote!(#pgflow::check::Reported<#name>), "report", &shown);
        let deps = self.functions(step);
        quote! {
            fn #call(task: &#pgflow::Task) -> #pgflow::__private::Called {
                #(let _ = #deps;)*
                #before
                #pgflow::__private::future::<#name, _, _>(#future, #into_result, #report)
            }
        }
    }

    /// The call itself, and what comes before it. A transaction is lent for as long as the call takes.
    fn future(&self, step: &Step<'_>) -> (TokenStream, TokenStream) {
        let (name, pgflow) = (step.name(), &self.pgflow);
        let args = step.params.iter().map(|param| self.argument(step, param));
        if !step.takes(Source::Transaction) {
            // At the name of the step, so that a future that is not `Send` is reported there.
            let future = quote_spanned!(name.span()=> ::std::boxed::Box::pin(#name(#(#args),*)));
            return (TokenStream::new(), future);
        }
        let mut names = Vec::new();
        let mut before = quote!(let mut __lent = #pgflow::__private::tx(task)?;);
        for (at, (param, arg)) in step.params.iter().zip(args).enumerate() {
            let arg_name = format_ident!("__arg{at}");
            if param.source == Source::Transaction {
                names.push(arg);
            } else {
                before.extend(quote!(let #arg_name = #arg;));
                names.push(quote!(#arg_name));
            }
        }
        let call = quote_spanned!(name.span()=> #name(#(#names),*));
        let future = quote!(::std::boxed::Box::pin(async move {
            let __returned = #call.await;
            __lent.give_back();
            __returned
        }));
        (before, future)
    }

    /// Its dependencies, named as functions: an editor that renames one in `depends_on` then renames
    /// its callers as well.
    fn functions<'a>(&self, step: &'a Step<'_>) -> impl Iterator<Item = &'a Ident> {
        let deps = step.depends_on.iter().filter(|dep| self.flow.steps[dep.step].is_sound);
        deps.map(|dep| &dep.ident)
    }

    /// For a step that is wrong in some way: its dependencies still lead somewhere in an editor.
    fn links(&self, step: &Step<'_>) -> TokenStream {
        let pgflow = &self.pgflow;
        let deps = step.depends_on.iter().map(|dep| &dep.ident);
        quote!(const _: &[&str] = &[#(<#deps as #pgflow::Step>::SLUG),*];)
    }
}
