//! `#[data]`: serde's and schemars' derives, found through `pgflow`.

use pgflow_syntax::{DataArgs, Errors, stored_fields};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::DeriveInput;
use syn::parse::{ParseStream, Parser};

/// The item with its derives, and what the compiler can know of its fields.
pub(crate) fn expand(args: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let args = (|args: ParseStream<'_>| DataArgs::read(args, &mut errors)).parse2(args);
    let args = errors.keep(args);
    let parsed = syn::parse2::<DeriveInput>(item.clone())
        .map_err(|why| syn::Error::new(why.span(), "`#[data]` goes on a `struct` or an `enum`"));
    let parsed = errors.keep(parsed);
    let expanded = match (args, parsed) {
        (Some(args), Some(parsed)) => derives(&args, &parsed),
        _ => item,
    };
    let errors = errors.finish().map(syn::Error::into_compile_error);
    quote!(#expanded #errors)
}

fn derives(args: &DataArgs, item: &DeriveInput) -> TokenStream {
    let pgflow =
        args.crate_path.as_ref().map_or_else(|| quote!(::pgflow), quote::ToTokens::to_token_stream);
    let serde = format!("{}::__private::serde", pgflow_syntax::pretty(&pgflow));
    let schema = args.has_schema.then(|| {
        let schemars = format!("{}::__private::schemars", pgflow_syntax::pretty(&pgflow));
        quote! {
            #[derive(#pgflow::__private::schemars::JsonSchema)]
            #[schemars(crate = #schemars)]
        }
    });
    let fields = fields(item, &pgflow);
    quote! {
        #[derive(#pgflow::__private::serde::Serialize, #pgflow::__private::serde::Deserialize)]
        #[serde(crate = #serde)]
        #schema
        #item

        #fields
    }
}

/// The fields, so that the compiler can compare them with conditions.
fn fields(item: &DeriveInput, pgflow: &TokenStream) -> Option<TokenStream> {
    let fields = stored_fields(item)?;
    let entries = fields.into_iter().map(|(name, ty)| {
        let ty = ty.to_token_stream();
        quote! {
            #pgflow::__private::Field {
                name: #name,
                fields: <#pgflow::__private::Probe<#ty>>::FIELDS,
            }
        }
    });
    let (name, (impl_generics, ty_generics, clause)) =
        (&item.ident, item.generics.split_for_impl());
    Some(quote! {
        const _: () = {
            use #pgflow::__private::Unknown as _;

            #[automatically_derived]
            impl #impl_generics #pgflow::__private::Fields for #name #ty_generics #clause {
                const FIELDS: &'static [#pgflow::__private::Field] = &[#(#entries),*];
            }
        };
    })
}
