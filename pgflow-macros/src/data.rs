//! `#[data]`: serde's and schemars' derives, found through `pgflow`.

mod copy;

use pgflow_syntax::{DataArgs, Errors, held, pretty, stored_fields};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::parse::{ParseStream, Parser};
use syn::{Data, DeriveInput};

use crate::pgflow_crate;

const WRONG_PLACE: &str = "`#[data]` goes on a `struct` or an `enum`";

/// The item with its derives, and what the compiler can know of its fields.
pub(crate) fn expand(args: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let args = (|args: ParseStream<'_>| DataArgs::read(args, &mut errors)).parse2(args);
    let args = errors.keep(args);
    let parsed = syn::parse2::<DeriveInput>(item.clone())
        .map_err(|why| syn::Error::new(why.span(), WRONG_PLACE));
    let parsed = parsed.and_then(|item| match &item.data {
        Data::Union(union) => Err(syn::Error::new(union.union_token.span, WRONG_PLACE)),
        Data::Struct(_) | Data::Enum(_) => Ok(item),
    });
    let parsed = errors.keep(parsed);
    let pgflow = pgflow_crate::path(args.as_ref().and_then(|args| args.crate_path.as_ref()));
    let expanded = match (args, parsed, pgflow) {
        (Some(args), Some(parsed), Ok(pgflow)) => derives(&args, &parsed, &pgflow),
        (_, Some(parsed), Err(why)) => {
            errors.at(&parsed.ident, why);
            item
        }
        _ => item,
    };
    let errors = errors.finish().map(syn::Error::into_compile_error);
    quote!(#expanded #errors)
}

fn derives(args: &DataArgs, item: &DeriveInput, pgflow: &TokenStream) -> TokenStream {
    let fields = fields(item, pgflow);
    let data = if let (true, Some(held)) = (args.has_schema, held(item)) {
        copy::expand(item, &held, pgflow)
    } else {
        let derives = derive(args.has_schema, pgflow);
        quote!(#derives #item)
    };
    quote!(#data #fields)
}

/// The derives, found through `pgflow`.
fn derive(has_schema: bool, pgflow: &TokenStream) -> TokenStream {
    let path = |name: &str| format!("{}::__private::{name}", pretty(pgflow));
    let (serde, schemars) = (path("serde"), path("schemars"));
    let schema = has_schema.then(|| {
        quote! {
            #[derive(#pgflow::__private::schemars::JsonSchema)]
            #[schemars(crate = #schemars)]
        }
    });
    quote! {
        #[derive(#pgflow::__private::serde::Serialize, #pgflow::__private::serde::Deserialize)]
        #[serde(crate = #serde)]
        #schema
    }
}

/// The fields, so that the compiler can compare them with conditions.
fn fields(item: &DeriveInput, pgflow: &TokenStream) -> Option<TokenStream> {
    let stored = stored_fields(item)?;
    let [json, flat] = ["JSON", "FLAT"].map(|word| {
        let word = format_ident!("{word}");
        let (names, types) = (stored.iter().map(|(name, _)| name), stored.iter().map(|(_, ty)| ty));
        quote! {
            const #word: &'static #pgflow::__private::Json = &#pgflow::__private::Json::Object(&[#(
                #pgflow::__private::Field { name: #names, json: <#pgflow::__private::Probe<#types>>::#word },
            )*]);
        }
    });
    let (name, (impl_generics, ty_generics, clause)) =
        (&item.ident, item.generics.split_for_impl());
    Some(quote! {
        const _: () = {
            use #pgflow::__private::Unknown as _;

            impl #impl_generics #pgflow::__private::Known for #name #ty_generics #clause {
                #json
                #flat
            }
        };
    })
}
