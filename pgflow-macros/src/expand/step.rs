//! A step's type, and the function that calls it.

use pgflow_model::StepKind;
use pgflow_syntax::{Source, Step, has_name, pretty};
use proc_macro2::{Delimiter, Group, Ident, TokenStream};
use quote::{ToTokens, TokenStreamExt as _, format_ident, quote, quote_spanned};
use syn::Token;

use super::{Expand, short};
use crate::span::{Ends, Member, Rule, marker};

impl Expand<'_> {
    /// A step's type and, if it can be called, the function that calls it.
    pub(super) fn step(&self, step: &Step<'_>, place: Option<usize>) -> TokenStream {
        // A step that does not say what it outputs still has a type, since others may name it.
        let output: &dyn ToTokens = step.output.map_or(&Unit, |output| output);
        let name = step.name();
        let vis = self.outside.narrower(&step.item.vis, &self.flow.item.ident);
        let shown = Ends::of(&step.item.sig.output);
        let marker = marker(&vis, "enum", name, &quote!({}), Some(shown));
        let doc = format!("`{}`", pretty(&step.item.sig));
        let impl_step = self.impl_step(step, place, output);
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

    fn impl_step(
        &self,
        step: &Step<'_>,
        place: Option<usize>,
        output: &dyn ToTokens,
    ) -> TokenStream {
        let (private, name, flow_type) = (short(), step.name(), &self.flow.type_name);
        let seen = match step.kind() {
            StepKind::Single => quote!(#output),
            StepKind::Map => quote!(::std::vec::Vec<#output>),
        };
        let at = number(place);
        quote! {
            impl #private::Step for #name {
                type Flow = #flow_type;
                type At = #at;
                type TaskOutput = #output;
                type Output = #seen;
            }
        }
    }

    /// How the outputs of a step are kept.
    pub(super) fn kept(&self, step: &Step<'_>, output: &dyn ToTokens) -> TokenStream {
        let name = match step.kind() {
            StepKind::Single => "kept",
            StepKind::Map => "kept_all",
        };
        let rule = if self.flow.has_schema { "Stored" } else { "StoredWithoutSchema" };
        let (rule, shown) = (Rule(rule, &[step.name()]), Ends::of(output));
        Member { ty: output, rule: &rule, name, shown }.to_token_stream()
    }

    fn call(&self, step: &Step<'_>) -> TokenStream {
        let (name, private) = (step.name(), short());
        let call = format_ident!("__call_{}", name);
        let (before, future) = self.future(step);
        let inferred = Token![_](step.result_span);
        let (rule, shown) = (Rule("IsResult", &[&inferred, &inferred, name]), Ends::of(inferred));
        let into_result = Member { ty: &inferred, rule: &rule, name: "into_result", shown };
        let (rule, shown) = (Rule("Reported", &[name]), step.error.map_or(shown, Ends::of));
        // Such as `impl Error`, which is another type wherever it is written.
        let named = step.error.filter(|ty| has_name(ty));
        let error: &dyn ToTokens = named.map_or(&inferred, |error| error);
        let report = Member { ty: error, rule: &rule, name: "report", shown };
        let deps = self.functions(step);
        let waits = step.depends_on.iter().filter(|dep| !takes_output_of(step, dep.step));
        let waits = waits.map(|dep| &dep.ident);
        quote! {
            fn #call(task: &#private::Task) -> #private::Called {
                #(let _ = #deps;)*
                #(let _: #private::Waits<#waits>;)*
                #before
                #private::future::<#name, _, _>(#future, #into_result, #report)
            }
        }
    }

    /// The call itself, and what comes before it. A transaction is lent for as long as the call takes.
    fn future(&self, step: &Step<'_>) -> (TokenStream, TokenStream) {
        let (name, private) = (step.name(), short());
        let args = step.params.iter().map(|param| self.argument(step, param));
        if !step.takes(Source::Transaction) {
            // At the name of the step, so that a future that is not `Send` is reported there.
            let future = quote_spanned!(name.span()=> ::std::boxed::Box::new(#name(#(#args),*)));
            return (TokenStream::new(), future);
        }
        let mut names = Vec::new();
        let mut before = quote!(let mut __lent = #private::tx(task)?;);
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
        let future = quote!(::std::boxed::Box::new(async move {
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

    /// For a step that is wrong in some way: its output is checked all the same, and its dependencies
    /// still lead somewhere in an editor.
    fn links(&self, step: &Step<'_>) -> TokenStream {
        let private = short();
        let deps: Vec<_> = step.depends_on.iter().map(|dep| &dep.ident).collect();
        let kept = step.output.map(|output| self.kept(step, output)).into_iter();
        quote! {
            #(const _: fn() -> #private::AnyKept = #kept;)*
            #(const _: #private::Waits<#deps> = #private::Waits::<#deps> {};)*
        }
    }
}

/// `()`
struct Unit;

impl ToTokens for Unit {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.append(Group::new(Delimiter::Parenthesis, TokenStream::new()));
    }
}

/// A number as a type, digit by digit, or `()`.
fn number(value: Option<usize>) -> TokenStream {
    let (Some(value), private) = (value, short()) else { return quote!(()) };
    let digit = format_ident!("D{}", value % 10);
    if value < 10 {
        return quote!(#private::#digit);
    }
    let before = number(Some(value / 10));
    quote!((#before, #private::#digit))
}

fn takes_output_of(step: &Step<'_>, dep: usize) -> bool {
    let sources = [Source::Output(dep), Source::OptionalOutput(dep), Source::OutputItem(dep)];
    sources.into_iter().any(|source| step.takes(source))
}
