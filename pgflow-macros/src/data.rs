//! `#[data]`: serde's and schemars' derives, found through `pgflow`.

mod beside;
mod copy;
mod known;
mod silenced;

use pgflow_syntax::{DataArgs, Errors, data_mistakes, held, held_beside, pretty};
use proc_macro2::TokenStream;
use quote::quote;
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
    let mut parsed = errors.keep(parsed);
    let pgflow = pgflow_crate::path(args.as_ref().and_then(|args| args.crate_path.as_ref()));
    if let (Some(args), Some(item), Ok(pgflow)) = (&args, &mut parsed, &pgflow) {
        let any = format!("{}::__private::Value", pretty(pgflow));
        data_mistakes(item, args.has_schema.then_some(&any), &mut errors);
    }
    let expanded = match (args, parsed, pgflow) {
        (Some(_), Some(parsed), Ok(pgflow)) if !errors.is_empty() => {
            silenced::expand(&parsed, &pgflow)
        }
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
    let known = known::expand(item, pgflow);
    let data = if let (true, Some(held)) = (args.has_schema, held(item)) {
        copy::expand(item, &held, pgflow)
    } else if let (true, Some(beside)) = (args.has_schema, held_beside(item)) {
        beside::expand(item, &beside, pgflow)
    } else {
        let derives = derive(args.has_schema, pgflow);
        quote!(#derives #item)
    };
    quote!(#data #known)
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
