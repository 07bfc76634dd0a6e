//! A need's type, and the function that calls it.

use pgflow_syntax::{Need, NeedParam, NeedSource, Output, Permits, has_name, pretty};
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Token, Type};

use super::Expand;
use crate::expand::short;
use crate::span::{Ends, Member, Rule, local, marker};

impl Expand<'_> {
    /// A need's type and, if it is handled here and can be called, the function that calls it.
    pub(super) fn need(&self, need: &Need<'_>) -> TokenStream {
        let name = need.name();
        let vis = self.outside.narrower(&need.item.vis, &self.job.item.ident);
        let shown = need.payload().map(Ends::of);
        let marker = marker(&vis, "enum", name, &quote!({}), shown);
        let doc = format!("`{}`", pretty(&need.item.sig));
        let impl_need = self.impl_need(need);
        let is_called = need.is_sound && need.external.is_none();
        let call = is_called.then(|| self.call(need));
        quote! {
            #[doc(hidden)]
            #[doc = #doc]
            #[allow(non_camel_case_types, dead_code, missing_copy_implementations, missing_debug_implementations)]
            #marker

            #impl_need
            #call
        }
    }

    fn impl_need(&self, need: &Need<'_>) -> TokenStream {
        let (private, name, job) = (short(), need.name(), &self.job.type_name);
        let payload = need.payload().map_or_else(|| quote!(()), ToTokens::to_token_stream);
        let (rule, shown) = (Rule("StoredPayload", &[name]), Ends::of(&payload));
        let kept = Member { ty: &payload, rule: &rule, name: "kept", shown };
        let def = def(need);
        quote! {
            impl #private::NeedOf<#job> for #name {}

            #[diagnostic::do_not_recommend]
            impl #private::Need for #name {
                type Job = #job;
                type Payload = #payload;
                const DEF: &'static #private::NeedDef = &#def;
                const KEPT: fn() -> #private::Kept<#payload, #payload> = #kept;
            }
        }
    }

    fn call(&self, need: &Need<'_>) -> TokenStream {
        let (name, private, job) = (need.name(), short(), &self.job.type_name);
        let call = format_ident!("__call_{}", name);
        let (before, future) = future(need);
        let inferred = Token![_](need.result_span);
        let shown = Ends::of(inferred);
        let rule = Rule("IsResult", &[&inferred, &inferred, name]);
        let into_result = Member { ty: &inferred, rule: &rule, name: "into_result", shown };
        let ended = need.output.map_or(shown, |output| Ends::of(output.written()));
        let spelled: &dyn ToTokens = match &need.output {
            Some(Output::Spelled(ty)) => ty,
            _ => &inferred,
        };
        let rule = Rule("IsNext", &[job, name]);
        let next = Member { ty: spelled, rule: &rule, name: "next", shown: ended };
        let (rule, shown) = (Rule("Reported", &[name]), need.error.map_or(shown, Ends::of));
        let error: &dyn ToTokens = match &need.error {
            Some(ty) if has_name(ty) => ty,
            _ => &inferred,
        };
        let report = Member { ty: error, rule: &rule, name: "report", shown };
        let task = local("task");
        quote! {
            fn #call(#task: &#private::JobTask) -> #private::CalledNeed {
                #before
                #private::need_future(#future, #into_result, #next, #report)
            }
        }
    }
}

/// What a worker needs to know.
fn def(need: &Need<'_>) -> TokenStream {
    let (private, capability) = (short(), &need.capability);
    let payload = need.payload().map_or_else(|| "()".to_owned(), pretty);
    let external = need.external.as_ref().map(|_| quote!(is_external: true,));
    let options = need.options.set().map(|(name, value)| {
        let name = format_ident!("{name}");
        quote!(#name: ::core::option::Option::Some(#value),)
    });
    let Permits { resources, rate } = &need.permits;
    let resources = (!resources.is_empty()).then(|| quote!(resources: &[#(#resources),*],));
    let rate = rate.iter().map(|rate| quote!(rate: ::core::option::Option::Some(#rate),));
    let states: Vec<_> = states(need).collect();
    let states = (!states.is_empty()).then(|| {
        quote!(states: {
            #[allow(unused_imports)]
            use #private::Unneeded as _;
            &[#(<#private::Needed<#states>>::NEED),*]
        },)
    });
    let takes_tx = need.param(NeedSource::Transaction).map(|_| quote!(takes_tx: true,));
    let is_called = need.is_sound && need.external.is_none();
    let call = format_ident!("__call_{}", need.name());
    let call = is_called.then(|| quote!(call: #call,));
    quote! {
        #private::NeedDef {
            name: #capability,
            payload_type: #payload,
            #external
            #(#options)*
            #resources
            #(#rate)*
            #states
            #takes_tx
            #call
            ..#private::NeedDef::PLAIN
        }
    }
}

/// The call itself, and what comes before it. A transaction is lent for as long as the call takes.
fn future(need: &Need<'_>) -> (TokenStream, TokenStream) {
    let (name, private, task) = (need.name(), short(), local("task"));
    let takes_tx = need.param(NeedSource::Transaction).is_some();
    let lent = takes_tx.then(|| quote!(let mut __lent = #private::tx(#task.task())?;));
    let (mut before, mut args) = (lent.into_token_stream(), Vec::new());
    for (at, param) in need.params.iter().enumerate() {
        let (arg, arg_name) = (argument(need, param), format_ident!("__arg{at}"));
        if takes_tx && param.source != NeedSource::Transaction {
            before.extend(quote!(let #arg_name = #arg;));
            args.push(quote!(#arg_name));
        } else {
            args.push(arg);
        }
    }
    // At the name of the need, so that a future that is not `Send` is reported there.
    let call = quote_spanned!(name.span()=> #name(#(#args),*));
    if !takes_tx {
        return (before, quote_spanned!(name.span()=> <_ as #private::Sent>::sent(#call)));
    }
    let future = quote_spanned!(name.span()=> <_ as #private::Sent>::sent(async move {
        let __returned = #call.await;
        __lent.give_back();
        __returned
    }));
    (before, future)
}

/// The value of a parameter.
fn argument(need: &Need<'_>, param: &NeedParam<'_>) -> TokenStream {
    let (private, name, task) = (short(), need.name(), local("task"));
    let taken = |rule: &'static str, member: &'static str, from: TokenStream| {
        let (rule, shown) = (Rule(rule, &[name]), Ends::of(param.ty));
        let member = Member { ty: param.ty, rule: &rule, name: member, shown };
        quote!(#member(#from)?)
    };
    match param.source {
        NeedSource::Payload => quote!(#private::payload::<#name>(#task)?),
        NeedSource::Context => taken("IsJobContext", "from_job", quote!(#task)),
        NeedSource::State => taken("IsState", "from_task", quote!(#task.task())),
        NeedSource::Transaction => {
            let of: &dyn ToTokens = match param.ty {
                Type::Reference(reference) => &reference.elem,
                other => other,
            };
            let (rule, shown) = (Rule("IsTransaction", &[name]), Ends::of(param.ty));
            let lend = Member { ty: of, rule: &rule, name: "lend", shown };
            quote!(#lend(__lent.get()))
        }
    }
}

fn states<'a>(need: &'a Need<'_>) -> impl Iterator<Item = &'a Type> {
    let states = need.params.iter().filter(|param| param.source == NeedSource::State);
    states.map(|param| param.ty)
}
