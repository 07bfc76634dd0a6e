//! Conditions, compared with the types of what they test.

use pgflow_syntax::{PathSegment, Step, TypeCheck, Wanted};
use proc_macro2::{Ident, Literal, TokenStream};
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
                let json = self.json(check);
                checks.extend(quote!(let json = #json;));
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
        let (private, step_name) = (short(), step.name().to_string());
        let owner = check.step.map_or_else(
            || "the run's input".to_owned(),
            |at| format!("the output of `{}`", self.flow.steps[at].name()),
        );
        let places = check.path.iter().map(|place| match place {
            PathSegment::Field(name) => quote!(#private::PathSegment::Field(#name)),
            PathSegment::Element => quote!(#private::PathSegment::Element),
        });
        let (words, wanted) = (in_words(&check.path), wanted(&check.wanted));
        let wanted = quote!(#private::Wanted::#wanted);
        let arguments = quote!(#step_name, #owner, &[#(#places),*], #words, #wanted, json);
        // The call is what the compiler underlines, so all of it is there.
        let private = Ident::new(SHORT, check.span);
        quote_spanned!(check.span=> #private::check_condition(#arguments);)
    }
}

fn wanted(wanted: &Wanted) -> TokenStream {
    match wanted {
        Wanted::Null => quote!(Null),
        Wanted::Boolean => quote!(Boolean),
        Wanted::Integer(number) => {
            let number = Literal::i128_suffixed(*number);
            quote!(Integer(#number))
        }
        Wanted::Fraction => quote!(Fraction),
        Wanted::Text(text) => quote!(Text(#text)),
        Wanted::Array => quote!(Array),
        Wanted::Object => quote!(Object),
    }
}

/// `plan.name` or `links[].url`.
fn in_words(path: &[PathSegment]) -> String {
    let words = path.iter().map(|place| match place {
        PathSegment::Field(name) => format!(".{name}"),
        PathSegment::Element => "[]".to_owned(),
    });
    words.collect::<String>().trim_start_matches('.').to_owned()
}
