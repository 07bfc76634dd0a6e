//! The run's output: a field per step that no other depends on.

use pgflow_model::StepKind;
use pgflow_syntax::Step;
use proc_macro2::TokenStream;
use quote::quote;

use super::Expand;
use super::visibility::outside;

impl Expand<'_> {
    pub(super) fn output(&self) -> TokenStream {
        let (pgflow, name) = (&self.pgflow, &self.flow.output_name);
        let (flow_type, vis) = (&self.flow.type_name, outside(&self.flow.item.vis));
        let leaves = self.flow.steps.iter().filter(|step| step.is_leaf && !step.is_duplicate);
        let leaves: Vec<_> = leaves.filter(|step| step.output.is_some()).collect();
        let fields = leaves.iter().map(|step| field(step));
        let reads = leaves.iter().map(|step| read(step));
        let writes = leaves.iter().map(|step| write(step));
        quote! {
            /// What a run of this flow ends with: the output of each step that no other depends on.
            #[allow(private_interfaces)]
            #vis struct #name { #(#fields),* }

            impl #name {
                #[doc(hidden)]
                pub(super) fn __read(run: &#pgflow::RunOutputs<#flow_type>) -> ::core::result::Result<Self, #pgflow::DataError> {
                    ::core::result::Result::Ok(Self { #(#reads),* })
                }

                fn __write(&self) -> ::core::result::Result<#pgflow::__private::Value, #pgflow::DataError> {
                    let mut leaves = #pgflow::__private::Leaves::default();
                    #(#writes)*
                    ::core::result::Result::Ok(leaves.finish())
                }
            }

            #pgflow::__private::impl_output!(#name);
        }
    }
}

fn field(step: &Step<'_>) -> TokenStream {
    let (name, ty) = (step.name(), step.output);
    let ty = match step.kind() {
        StepKind::Single => quote!(#ty),
        StepKind::Map => quote!(::std::vec::Vec<#ty>),
    };
    let doc = format!("Output of step `{name}`.");
    if step.presence.is_optional() {
        quote!(#[doc = #doc] pub #name: ::core::option::Option<#ty>)
    } else {
        quote!(#[doc = #doc] pub #name: #ty)
    }
}

fn read(step: &Step<'_>) -> TokenStream {
    let name = step.name();
    if step.presence.is_optional() {
        quote!(#name: run.step::<#name>()?)
    } else {
        quote!(#name: run.leaf::<#name>()?)
    }
}

fn write(step: &Step<'_>) -> TokenStream {
    let name = step.name();
    let add = match step.kind() {
        StepKind::Single => quote!(one),
        StepKind::Map => quote!(all),
    };
    if step.presence.is_optional() {
        quote!(if let ::core::option::Option::Some(output) = &self.#name { leaves.#add::<#name>(output)?; })
    } else {
        quote!(leaves.#add::<#name>(&self.#name)?;)
    }
}
