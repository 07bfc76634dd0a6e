//! The value of a parameter, checked against where it comes from.

use pgflow_syntax::{Param, Source, Step};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};

use super::{Expand, short};
use crate::span::{Ends, Member, OutputOf, Rule, ShownAt};

impl Expand<'_> {
    pub(super) fn argument(&self, step: &Step<'_>, param: &Param<'_>) -> TokenStream {
        let (private, ty, consumer) = (short(), param.ty, step.name());
        let (steps, flow) = (&self.flow.steps, &self.flow.type_name);
        let output_of = |at: usize| OutputOf(steps[at].name());
        match param.source {
            Source::Output(at) => {
                let rule = if steps[at].map.is_some() { "OutputsAll" } else { "Outputs" };
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
                passed("OutputsItems", dep, &item, param, consumer)
            }
            Source::RunItem => {
                let input = quote!(<#flow as #private::Flow>::Input);
                let rule = Rule("HasSequenceInput", &[&input, consumer]);
                let shown = Ends::of(&step.map);
                let item = Member { ty: flow, rule: &rule, name: "Item", shown };
                passed("HasInputItems", flow, &item, param, consumer)
            }
            Source::Run => {
                let input = quote!(<#flow as #private::Flow>::Input);
                taken("HasInput", flow, &input, param, consumer)
            }
            Source::Context => extracted("IsContext", ty, consumer),
            Source::State => extracted("IsState", ty, consumer),
            Source::Transaction => quote!(__lent.get()),
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
) -> TokenStream {
    let shown = Ends::of(param.ty);
    let (ty, rule) = (ShownAt { ty: of, shown }, Rule(rule, &[param.ty, given, consumer]));
    let take = Member { ty: &ty, rule: &rule, name: "take", shown };
    quote!(#take(task)?)
}

/// An element, under the rule between it and the parameter.
fn passed(
    rule: &'static str,
    of: &Ident,
    item: &dyn ToTokens,
    param: &Param<'_>,
    consumer: &Ident,
) -> TokenStream {
    let shown = Ends::of(param.ty);
    let (ty, rule) = (ShownAt { ty: of, shown }, Rule(rule, &[param.ty, item, consumer]));
    let pass = Member { ty: &ty, rule: &rule, name: "pass", shown };
    let rule = Rule("ReadItem", &[consumer]);
    let read = Member { ty: param.ty, rule: &rule, name: "read", shown };
    quote!(#pass(task.item(#read)?))
}

/// A value that does not come from the run's data.
fn extracted(rule: &'static str, ty: &dyn ToTokens, consumer: &Ident) -> TokenStream {
    let (rule, shown) = (Rule(rule, &[consumer]), Ends::of(ty));
    let from_task = Member { ty, rule: &rule, name: "from_task", shown };
    quote!(#from_task(task)?)
}
