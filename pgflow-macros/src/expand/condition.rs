//! Conditions, compared with the types of what they test.

use pgflow_syntax::{PathSegment, Step, TypeCheck, Wanted};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};

use super::{Expand, short};
use crate::span::SHORT;

impl Expand<'_> {
    /// A constant for each step with a condition: it fails to evaluate if no value of the types that are tested can have
    /// one of the parts of its pattern.
    pub(super) fn conditions(&self) -> Option<TokenStream> {
        let private = short();
        let steps = self.flow.steps.iter().filter(|step| !step.is_duplicate && step.is_sound);
        let steps = steps.filter(|step| !step.type_checks.is_empty());
        let constants: Vec<_> = steps.map(|step| self.condition(step)).collect();
        (!constants.is_empty()).then(|| {
            quote! {
                #[allow(non_upper_case_globals, dead_code)]
                const _: () = {
                    use #private::Unknown as _;
                    #(#constants)*
                };
            }
        })
    }

    /// One constant for all parts: each would cost as much as the rest of the step.
    fn condition(&self, step: &Step<'_>) -> TokenStream {
        // The compiler shows the constant's name.
        let name = format_ident!("condition_of_{}", step.name());
        let mut checks = TokenStream::new();
        let mut tested = None;
        for check in &step.type_checks {
            if tested != Some(check.step) {
                let (name, json) = (local(Span::mixed_site()), self.json(check));
                checks.extend(quote!(let #name = #json;));
                tested = Some(check.step);
            }
            checks.extend(self.type_check(step, check));
        }
        quote!(const #name: () = { #checks };)
    }

    /// What is known of the JSON that is tested.
    fn json(&self, check: &TypeCheck) -> TokenStream {
        let private = short();
        if let Some(at) = check.step {
            let dep = self.flow.steps[at].name();
            return quote!(<#private::Probe<<#dep as #private::Step>::Output>>::JSON);
        }
        let flow = &self.flow.type_name;
        quote!(<#private::Probe<<#flow as #private::Flow>::Input>>::JSON)
    }

    fn type_check(&self, step: &Step<'_>, check: &TypeCheck) -> TokenStream {
        let owner = check.step.map_or_else(
            || "the run's input".to_owned(),
            |at| format!("the output of `{}`", self.flow.steps[at].name()),
        );
        let (who, part) = (format!("{}\0{owner}", step.name()), part(check));
        // A call is what the compiler underlines: the first for a field that is not there, the other for its value.
        let (at, last) = (check.span, check.value.last);
        let (private, json) = (Ident::new(SHORT, at), local(at));
        let is_other = quote_spanned!(at=> #private::is_never(#who, #part, #json));
        let (private, json) = (Ident::new(SHORT, check.value.first), local(last));
        let refusal = quote_spanned!(last=> #private::refuse_value(#who, #part, #json));
        quote!(if #is_other { #refusal })
    }
}

/// What is tested, underlined there. It is the same variable also where a condition comes from another macro.
fn local(span: Span) -> Ident {
    Ident::new("json", span.resolved_at(Span::mixed_site()))
}

/// The way to a part of a pattern, and what is wanted there, as `check_condition` reads it.
fn part(check: &TypeCheck) -> String {
    let way = check.path.iter().map(|place| match place {
        PathSegment::Field(name) => format!(".{name}\0"),
        PathSegment::Element => "[".to_owned(),
    });
    let wanted = match &check.wanted {
        Wanted::Null => "n".to_owned(),
        Wanted::Boolean => "b".to_owned(),
        Wanted::Integer(number) => format!("i{number}"),
        Wanted::Fraction => "f".to_owned(),
        Wanted::Text(text) => format!("t{text}"),
        Wanted::Array => "a".to_owned(),
        Wanted::Object => "o".to_owned(),
    };
    way.chain([wanted]).collect()
}
