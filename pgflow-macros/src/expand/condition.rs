//! Conditions, compared with the types of what they test.

use pgflow_syntax::{Place, Step, TypeCheck};
use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};

use super::{Expand, short};

impl Expand<'_> {
    pub(super) fn conditions(&self, step: &Step<'_>) -> TokenStream {
        if !step.is_sound {
            return TokenStream::new();
        }
        step.type_checks.iter().map(|check| self.type_check(step, check)).collect()
    }

    /// Fails to evaluate if no value of the type can have this part of the pattern.
    fn type_check(&self, step: &Step<'_>, check: &TypeCheck) -> TokenStream {
        let (private, step_name) = (short(), step.name().to_string());
        let (ty, owner) = match check.step {
            None => {
                let flow = &self.flow.type_name;
                (quote!(<#flow as #private::Flow>::Input), "the run's input".to_owned())
            }
            Some(at) => {
                let dep = self.flow.steps[at].name();
                (quote!(<#dep as #private::Step>::Output), format!("the output of `{dep}`"))
            }
        };
        let places = check.path.iter().map(|place| match place {
            Place::Field(name) => quote!(#private::Place::Field(#name)),
            Place::Element => quote!(#private::Place::Element),
        });
        let (words, wanted) = (in_words(&check.path), check.wanted);
        let wanted = format_ident!("{wanted:?}");
        // The compiler shows the constant's name.
        let name = format_ident!("condition_of_{}", step.name());
        // The field may come out of a `macro_rules!`, where our `why` is unknown.
        let why = format_ident!("why");
        let fail = quote_spanned!(check.span=> ::core::panic!("{}", #why.as_str()));
        quote! {
            const _: () = {
                use #private::Unknown as _;
                #[allow(non_upper_case_globals, dead_code)]
                const #name: () = {
                    let part = #private::Part {
                        step: #step_name,
                        owner: #owner,
                        path: (&[#(#places),*], #words),
                        wanted: #private::Wanted::#wanted,
                    };
                    if let ::core::option::Option::Some(#why) = part.never(<#private::Probe<#ty>>::JSON) {
                        #fail
                    }
                };
            };
        }
    }
}

/// `plan.name` or `links[].url`.
fn in_words(path: &[Place]) -> String {
    let words = path.iter().map(|place| match place {
        Place::Field(name) => format!(".{name}"),
        Place::Element => "[]".to_owned(),
    });
    words.collect::<String>().trim_start_matches('.').to_owned()
}
