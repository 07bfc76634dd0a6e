//! Fields that conditions name, looked for in types.

use pgflow_syntax::{FieldCheck, Step};
use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};

use super::Expand;

impl Expand<'_> {
    pub(super) fn conditions(&self, step: &Step<'_>) -> TokenStream {
        if !step.is_sound {
            return TokenStream::new();
        }
        step.fields.iter().map(|field| self.field(step, field)).collect()
    }

    /// Fails to evaluate if the field is not there. Only types made with `#[data]` can tell.
    fn field(&self, step: &Step<'_>, field: &FieldCheck) -> TokenStream {
        let pgflow = &self.pgflow;
        let (ty, owner) = match field.step {
            None => {
                let flow = &self.flow.type_name;
                (quote!(<#flow as #pgflow::Flow>::Input), "the run's input".to_owned())
            }
            Some(at) => {
                let dep = self.flow.steps[at].name();
                (quote!(<#dep as #pgflow::Step>::Output), format!("the output of `{dep}`"))
            }
        };
        let path = &field.path;
        let message = format!(
            "the condition of step `{}` names `{}`, which is not a field of {owner}",
            step.name(),
            path.join("."),
        );
        // The compiler shows the constant's name.
        let name = format_ident!("condition_of_{}", step.name());
        // The field may come out of a `macro_rules!`, where our `why` is unknown.
        let why = format_ident!("why");
        let fail = quote_spanned!(field.span=> ::core::panic!("{}", #why.as_str()));
        quote! {
            const _: () = {
                use #pgflow::__private::Unknown as _;
                #[allow(non_upper_case_globals, dead_code)]
                const #name: () = {
                    let fields = <#pgflow::__private::Probe<#ty>>::FIELDS;
                    if let ::core::option::Option::Some(#why) = #pgflow::__private::unknown_field(fields, &[#(#path),*], #message) {
                        #fail
                    }
                };
            };
        }
    }
}
