//! A step's type, and the function that calls it.

use pgflow_model::StepKind;
use pgflow_syntax::{Output, Source, Step, has_name, pretty};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::{Index, Token, Type};

use super::argument::Argument;
use super::output::seen;
use super::{Expand, short};
use crate::editor::is_editor;
use crate::span::{Ends, Member, Rule, local, marker};
use crate::storable::fail;

/// Parameters that can be taken with one call: there is a `take_2` and so on for each number.
const TAKEN_AT_ONCE: usize = 12;

impl Expand<'_> {
    /// A step's type and, if it can be called, the function that calls it.
    pub(super) fn step(&self, step: &Step<'_>, place: Option<usize>) -> TokenStream {
        let name = step.name();
        let vis = self.outside.narrower(&step.item.vis, &self.flow.item.ident);
        let shown = Ends::of(&step.item.sig.output);
        let marker = marker(&vis, "enum", name, &quote!({}), Some(shown));
        let doc = format!("`{}`", pretty(&step.item.sig));
        let impl_step = self.impl_step(step, place);
        let call = if self.is_callable(step) { self.call(step) } else { self.links(step) };
        let checked = checked(step);
        quote! {
            #checked

            #[doc(hidden)]
            #[doc = #doc]
            #[allow(non_camel_case_types, dead_code, missing_copy_implementations, missing_debug_implementations)]
            #marker

            #impl_step
            #call
        }
    }

    /// Whether a call can be generated: nothing is wrong with the step, and what its dependencies
    /// output is known.
    pub(super) fn is_callable(&self, step: &Step<'_>) -> bool {
        let mut deps = step.depends_on.iter().map(|dep| &self.flow.steps[dep.step]);
        step.is_sound && deps.all(|dep| dep.output.is_some())
    }

    fn impl_step(&self, step: &Step<'_>, place: Option<usize>) -> TokenStream {
        let (private, name, flow_type) = (short(), step.name(), &self.flow.type_name);
        let output = match step.output {
            Some(Output::Behind(ty)) => returned(step, ty, "Output"),
            _ => task_output(step),
        };
        let seen = seen(step);
        let at = number(place);
        let (emits, waits_for) = (emits(step), waits_for(step));
        quote! {
            #emits
            #waits_for

            #[diagnostic::do_not_recommend]
            impl #private::Step for #name {
                type Flow = #flow_type;
                type At = #at;
                type TaskOutput = #output;
                type Output = #seen;
            }
        }
    }

    /// How the outputs of a step are kept.
    pub(super) fn kept(&self, step: &Step<'_>, output: Output<'_>) -> TokenStream {
        let name = match step.kind() {
            StepKind::Single => "kept",
            StepKind::Map => "kept_all",
        };
        let rule = if self.flow.has_schema { "Stored" } else { "StoredWithoutSchema" };
        let (rule, shown) = (Rule(rule, &[step.name()]), Ends::of(output.written()));
        let (step_rule, of) = (Rule("Step", &[]), step.name());
        // Behind an alias, so that the alias is underlined.
        let behind = Member { ty: of, rule: &step_rule, name: "TaskOutput", shown };
        let ty: &dyn ToTokens = match &output {
            Output::Spelled(ty) => ty,
            Output::Behind(_) => &behind,
        };
        Member { ty, rule: &rule, name, shown }.to_token_stream()
    }

    fn call(&self, step: &Step<'_>) -> TokenStream {
        let (name, private) = (step.name(), short());
        let call = format_ident!("__call_{}", name);
        let inferred = Token![_](step.result_span);
        let shown = Ends::of(inferred);
        let into_result = if let Some(Output::Behind(ty)) = step.output {
            returned(step, ty, "into_result")
        } else {
            let rule = Rule("IsResult", &[&inferred, &inferred, name]);
            Member { ty: &inferred, rule: &rule, name: "into_result", shown }.to_token_stream()
        };
        let (rule, shown) = (Rule("Reported", &[name]), step.error.map_or(shown, Ends::of));
        // Such as `impl Error`, which is another type wherever it is written.
        let named = step.error.filter(|ty| has_name(ty));
        let error: &dyn ToTokens = named.map_or(&inferred, |error| error);
        let report = Member { ty: error, rule: &rule, name: "report", shown };
        let deps = is_editor().then(|| self.functions(step)).into_iter().flatten();
        let waits = step.depends_on.iter().filter(|dep| !takes_output_of(step, dep.step));
        let waits = waits.map(|dep| &dep.ident);
        let called = |future: &TokenStream| match step.waiting {
            None => quote!(#private::future::<#name, _, _>(#future, #into_result, #report)),
            Some(ty) => {
                let is_waiting = is_waiting(step, ty);
                quote!(#private::waiting::<#name, _, _, _>(#future, #into_result, #is_waiting, #report))
            }
        };
        let (body, task) = (self.body(step, &called), local("task"));
        quote! {
            fn #call(#task: &#private::Task) -> #private::Called {
                #(let _ = #deps;)*
                #(let _: #private::Waits<#waits>;)*
                #body
            }
        }
    }

    /// Takes all parameters with one call and passes them on, where that can be. The compiler's work on a function that
    /// takes one after the other grows with the square of what it must drop if a later one cannot be read.
    fn body(&self, step: &Step<'_>, called: &dyn Fn(&TokenStream) -> TokenStream) -> TokenStream {
        let (name, private, task, it) = (step.name(), short(), local("task"), local("it"));
        let args = step.params.iter().map(|param| self.argument(step, param));
        let args: Vec<_> = args.collect();
        if step.takes(Source::Transaction) {
            return in_transaction(step, args, called);
        }
        let taken = args.iter().map(|arg| match arg {
            Argument::Taken(take) => Some(take),
            Argument::Made(_) => None,
        });
        let taken: Option<Vec<_>> = taken.collect();
        // At the name of the step, so that a future that is not `Send` is reported there.
        let boxed = |args: &TokenStream| quote_spanned!(name.span()=> <_ as #private::Sent>::sent(#name(#args)));
        let (taken, args) = match taken.as_deref() {
            Some([take]) => (quote!(#take(#task)), quote!(#it)),
            Some(taken) if (2..=TAKEN_AT_ONCE).contains(&taken.len()) => {
                let take = format_ident!("take_{}", taken.len());
                let indices = (0..taken.len()).map(Index::from);
                (quote!(#private::#take(#task, #(#taken),*)), quote!(#(#it.#indices),*))
            }
            _ => {
                let args = args.into_iter().map(Argument::value);
                return called(&boxed(&quote!(#(#args),*)));
            }
        };
        let called = called(&boxed(&args));
        quote! {
            match #taken {
                #private::Ok(#it) => #called,
                #private::Err(why) => #private::Err(why),
            }
        }
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

/// A transaction is lent for as long as the call takes.
fn in_transaction(
    step: &Step<'_>,
    args: Vec<Argument>,
    called: &dyn Fn(&TokenStream) -> TokenStream,
) -> TokenStream {
    let (name, private, task) = (step.name(), short(), local("task"));
    let mut names = Vec::new();
    let mut before = quote!(let mut __lent = #private::tx(#task)?;);
    for (at, (param, arg)) in step.params.iter().zip(args).enumerate() {
        let (arg_name, value) = (format_ident!("__arg{at}"), arg.value());
        if param.source == Source::Transaction {
            names.push(value);
        } else {
            before.extend(quote!(let #arg_name = #value;));
            names.push(quote!(#arg_name));
        }
    }
    let call = quote_spanned!(name.span()=> #name(#(#names),*));
    let called = called(&quote_spanned!(name.span()=> <_ as #private::Sent>::sent(async move {
        let __returned = #call.await;
        __lent.give_back();
        __returned
    })));
    quote!(#before #called)
}

/// What one task of a step outputs.
///
/// A step that does not say what it outputs still has a type, since others may name it.
pub(super) fn task_output(step: &Step<'_>) -> TokenStream {
    match step.output {
        Some(Output::Spelled(ty)) => ty.to_token_stream(),
        Some(Output::Behind(_)) => {
            let (private, name) = (short(), step.name());
            quote!(<#name as #private::Step>::TaskOutput)
        }
        None => quote!(()),
    }
}

/// Something of the `Result` that `ty` stands for.
fn returned(step: &Step<'_>, ty: &Type, member: &'static str) -> TokenStream {
    let checked = checked_name(step);
    let (rule, shown) = (Rule("Aliased", &[&checked]), Ends::of(ty));
    Member { ty, rule: &rule, name: member, shown }.to_token_stream()
}

/// The name of a type that cannot be evaluated if the step returns no `Result`. The compiler shows it.
fn checked_name(step: &Step<'_>) -> Ident {
    format_ident!("{}_returns_a_result", step.name().unraw())
}

/// That type, for a step whose `Result` has another name.
fn checked(step: &Step<'_>) -> Option<TokenStream> {
    let Some(Output::Behind(ty)) = step.output else { return None };
    let (private, checked, fail) = (short(), checked_name(step), fail(ty));
    let (name, written) = (step.name().to_string(), pretty(ty));
    Some(quote! {
        #[allow(non_camel_case_types)]
        type #checked = [(); {
            #[allow(unused_imports)]
            use #private::NoResult as _;
            let is_result = <#private::Alias<#ty>>::IS_RESULT;
            if let ::core::option::Option::Some(why) = #private::no_result(#name, #written, is_result) {
                #fail
            }
            0
        }];
    })
}

/// Makes sure that a `Waiting` is ours, and one for its output.
fn is_waiting(step: &Step<'_>, ty: &Type) -> TokenStream {
    let (output, rule_of) = (task_output(step), step.name());
    let (rule, shown) = (Rule("IsWaiting", &[&output, rule_of]), Ends::of(ty));
    Member { ty, rule: &rule, name: "waits", shown }.to_token_stream()
}

/// What the chunks of its stream are, if it has one.
fn emits(step: &Step<'_>) -> Option<TokenStream> {
    let (private, name) = (short(), step.name());
    let param = step.params.iter().find(|param| param.source == Source::Stream)?;
    let ty = param.ty;
    Some(quote! {
        #[diagnostic::do_not_recommend]
        impl #private::Emits for #name {
            type Chunk = <#ty as #private::EmitOf>::Chunk;
        }
    })
}

/// That it waits, if it does.
fn waits_for(step: &Step<'_>) -> Option<TokenStream> {
    let (private, name) = (short(), step.name());
    step.waiting?;
    Some(quote! {
        #[diagnostic::do_not_recommend]
        impl #private::WaitsForAnswer for #name {
            type Answer = <#name as #private::Step>::TaskOutput;
            type Of = #name;
        }
    })
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
