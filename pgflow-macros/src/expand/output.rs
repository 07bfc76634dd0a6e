//! The run's output: a field per step that no other depends on.

use pgflow_model::StepKind;
use pgflow_syntax::Step;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::Index;

use super::step::task_output;
use super::{Expand, short};

/// Leaves that one function reads. The compiler's work on a function grows with the square of the
/// values it must drop if a later one cannot be read.
const READ_AT_ONCE: usize = 16;

impl Expand<'_> {
    pub(super) fn output(&self) -> TokenStream {
        let (private, name) = (short(), &self.flow.output_name);
        let vis = &self.outside.tokens;
        let leaves = self.flow.steps.iter().filter(|step| step.is_leaf && !step.is_duplicate);
        let leaves: Vec<_> = leaves.filter(|step| step.output.is_some()).collect();
        let fields = leaves.iter().map(|step| field(step));
        let read = self.read(&leaves);
        let writes = leaves.iter().map(|step| write(step));
        let flow = &self.flow.type_name;
        quote! {
            /// What a run of this flow ends with: the output of each step that no other depends on.
            #[allow(private_interfaces)]
            #vis struct #name { #(#fields),* }

            impl #name {
                #read

                fn __write(&self) -> ::core::result::Result<#private::Value, #private::DataError> {
                    let mut leaves = #private::Leaves::default();
                    #(#writes)*
                    ::core::result::Result::Ok(leaves.finish())
                }
            }

            #private::impl_output!(#name of #flow);
        }
    }

    /// Reads the leaves, [`READ_AT_ONCE`] per function.
    fn read(&self, leaves: &[&Step<'_>]) -> TokenStream {
        let (private, flow_type) = (short(), &self.flow.type_name);
        let part = |at: usize| format_ident!("__read_{at}");
        let parts: Vec<_> = (0..leaves.len().div_ceil(READ_AT_ONCE)).map(part).collect();
        let types = leaves.chunks(READ_AT_ONCE).map(|steps| steps.iter().map(|step| ended(step)));
        let types = types.map(|types| quote!((#(#types,)*)));
        let reads = leaves.chunks(READ_AT_ONCE).map(|steps| steps.iter().map(|step| read(step)));
        let reads = reads.map(|reads| quote!((#(#reads,)*)));
        let fields = leaves.iter().enumerate().map(|(at, step)| {
            let (name, part) = (step.name(), part(at / READ_AT_ONCE));
            let index = Index::from(at % READ_AT_ONCE);
            quote!(#name: #part.#index)
        });
        quote! {
            #[doc(hidden)]
            pub(super) fn __read(run: &#private::RunOutputs<#flow_type>) -> ::core::result::Result<Self, #private::DataError> {
                #(let #parts = Self::#parts(run)?;)*
                ::core::result::Result::Ok(Self { #(#fields),* })
            }

            #(
                fn #parts(run: &#private::RunOutputs<#flow_type>) -> ::core::result::Result<#types, #private::DataError> {
                    ::core::result::Result::Ok(#reads)
                }
            )*
        }
    }
}

/// The type that dependents see.
pub(super) fn seen(step: &Step<'_>) -> TokenStream {
    let ty = task_output(step);
    match step.kind() {
        StepKind::Single => quote!(#ty),
        StepKind::Map => quote!(::std::vec::Vec<#ty>),
    }
}

/// The type that a reader of the run's output sees.
fn ended(step: &Step<'_>) -> TokenStream {
    let ty = seen(step);
    if step.presence.is_optional() { quote!(::core::option::Option<#ty>) } else { ty }
}

fn field(step: &Step<'_>) -> TokenStream {
    let (name, ty) = (step.name(), ended(step));
    let doc = format!("Output of step `{name}`.");
    quote!(#[doc = #doc] pub #name: #ty)
}

fn read(step: &Step<'_>) -> TokenStream {
    let name = step.name();
    if step.presence.is_optional() {
        quote!(run.step::<#name>()?)
    } else {
        quote!(run.leaf::<#name>()?)
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
