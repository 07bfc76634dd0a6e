//! The value of a parameter, checked against where it comes from.

use pgflow_syntax::{Output, Param, Source, Step};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::Type;

use super::{Expand, short};
use crate::span::{Ends, Member, OutputOf, Rule, ShownAt, local};

/// How a parameter gets its value.
pub(super) enum Argument {
    /// From a function that takes the task.
    Taken(TokenStream),
    /// From an expression.
    Made(TokenStream),
}

impl Argument {
    pub(super) fn value(self) -> TokenStream {
        match self {
            Self::Taken(take) => {
                let task = local("task");
                quote!(#take(#task)?)
            }
            Self::Made(value) => value,
        }
    }
}

impl Expand<'_> {
    pub(super) fn argument(&self, step: &Step<'_>, param: &Param<'_>) -> Argument {
        let (private, ty, consumer) = (short(), param.ty, step.name());
        let (steps, flow) = (&self.flow.steps, &self.flow.type_name);
        let output_of = |at: usize| OutputOf(steps[at].name());
        match param.source {
            Source::Output(at) => {
                let rule = if steps[at].map.is_some() { "OutputsAll" } else { "OutputsOne" };
                taken(rule, written(step, at), &output_of(at), param, consumer)
            }
            Source::OptionalOutput(at) => {
                taken("MayOutput", written(step, at), &output_of(at), param, consumer)
            }
            Source::OutputItem(at) => {
                let (dep, output) = (written(step, at), output_of(at));
                let rule = Rule("OutputsSequence", &[&output, consumer]);
                let shown = Ends::of(&step.depends_on[0].ident);
                let item = Member { ty: dep, rule: &rule, name: "Item", shown };
                let read = read(param, consumer, steps[at].output.map(Output::written));
                passed("OutputsItems", dep, &item, param, &read, consumer)
            }
            Source::RunItem => {
                let input = quote!(<#flow as #private::Flow>::Input);
                let rule = Rule("HasSequenceInput", &[&input, consumer]);
                let shown = Ends::of(&step.map);
                let item = Member { ty: flow, rule: &rule, name: "Item", shown };
                let read = read(param, consumer, self.flow.input.as_ref().map(|(_, ty)| ty));
                passed("HasInputItems", flow, &item, param, &read, consumer)
            }
            Source::Run => {
                let input = quote!(<#flow as #private::Flow>::Input);
                taken("HasInput", flow, &input, param, consumer)
            }
            Source::Context => extracted("IsContext", ty, consumer),
            Source::State => extracted("IsState", ty, consumer),
            Source::Transaction => lent(ty, consumer),
            Source::Stream => extracted("IsEmit", ty, consumer),
            Source::Hook => extracted("IsHook", ty, consumer),
        }
    }
}

/// The name of a dependency, where it is written: so it is a link in editors.
fn written<'a>(step: &'a Step<'_>, at: usize) -> &'a Ident {
    let dep = step.depends_on.iter().find(|dep| dep.step == at);
    dep.map_or_else(|| step.name(), |dep| &dep.ident)
}

/// What a step or the flow has to give, under the rule between it and the parameter.
fn taken(
    rule: &'static str,
    of: &Ident,
    given: &dyn ToTokens,
    param: &Param<'_>,
    consumer: &Ident,
) -> Argument {
    let shown = Ends::of(param.ty);
    let (ty, rule) = (ShownAt { ty: of, shown }, Rule(rule, &[param.ty, given, consumer]));
    let take = Member { ty: &ty, rule: &rule, name: "take", shown };
    Argument::Taken(take.to_token_stream())
}

/// An element, under the rule between it and the parameter.
fn passed(
    rule: &'static str,
    of: &Ident,
    item: &dyn ToTokens,
    param: &Param<'_>,
    read: &TokenStream,
    consumer: &Ident,
) -> Argument {
    let shown = Ends::of(param.ty);
    let (ty, rule) = (ShownAt { ty: of, shown }, Rule(rule, &[param.ty, item, consumer]));
    let pass = Member { ty: &ty, rule: &rule, name: "pass", shown };
    let task = local("task");
    Argument::Made(quote!(#pass(#task.item(#read)?)))
}

/// Reads an element. Of a `Vec`, it is up to who outputs that to say that its elements cannot be read.
fn read(param: &Param<'_>, consumer: &Ident, list: Option<&Type>) -> TokenStream {
    let (private, ty) = (short(), param.ty);
    if list.is_some_and(is_vec) {
        return quote!({
            #[allow(unused_imports)]
            use #private::Unread as _;
            <#private::Reader<#ty>>::read::<#consumer>
        });
    }
    let (rule, shown) = (Rule("ReadItem", &[consumer]), Ends::of(ty));
    Member { ty, rule: &rule, name: "read", shown }.to_token_stream()
}

fn is_vec(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Vec"))
}

/// The transaction.
fn lent(ty: &Type, consumer: &Ident) -> Argument {
    let of: &dyn ToTokens = if let Type::Reference(reference) = ty { &reference.elem } else { ty };
    let (rule, shown) = (Rule("IsTransaction", &[consumer]), Ends::of(ty));
    let member = Member { ty: of, rule: &rule, name: "lend", shown };
    Argument::Made(quote!(#member(__lent.get())))
}

/// A value that does not come from the run's data.
fn extracted(rule: &'static str, ty: &dyn ToTokens, consumer: &Ident) -> Argument {
    let (rule, shown) = (Rule(rule, &[consumer]), Ends::of(ty));
    let from_task = Member { ty, rule: &rule, name: "from_task", shown };
    Argument::Taken(from_task.to_token_stream())
}
