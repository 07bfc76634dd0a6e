//! `#[data]`: serde's and schemars' derives, found through `pgflow`.

mod beside;
mod copy;
mod known;
mod silenced;

use pgflow_syntax::{DataArgs, Errors, data_mistakes, held, held_at_least, held_beside, pretty};
use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Data, DeriveInput, Token, Visibility};

use crate::{pgflow_crate, storable};

/// The item with its derives, and what the compiler can know of its fields.
pub(crate) fn expand(args: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let args = (|args: ParseStream<'_>| DataArgs::read(args, &mut errors)).parse2(args);
    let args = errors.keep(args);
    let parsed = syn::parse2::<DeriveInput>(item.clone());
    let parsed = parsed.map_err(|why| mistake(item.clone(), why));
    let parsed = parsed.and_then(|item| match &item.data {
        Data::Union(_) => Err(wrong_place(DeriveInput { attrs: Vec::new(), ..item })),
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

fn wrong_place(item: impl ToTokens) -> syn::Error {
    syn::Error::new_spanned(item, "`#[data]` goes on a `struct` or an `enum`")
}

/// What cannot be read is in the wrong place, unless it is a type, whose syntax is then not known here.
fn mistake(item: TokenStream, why: syn::Error) -> syn::Error {
    let parts = (|item: ParseStream<'_>| {
        item.call(Attribute::parse_outer)?;
        let vis: Visibility = item.parse()?;
        let is_type = item.peek(Token![struct]) || item.peek(Token![enum]);
        let rest: TokenStream = item.parse()?;
        Ok((is_type, quote!(#vis #rest)))
    })
    .parse2(item);
    match parts {
        Ok((false, item)) => wrong_place(item),
        Ok(_) | Err(_) => why,
    }
}

fn derives(args: &DataArgs, item: &DeriveInput, pgflow: &TokenStream) -> TokenStream {
    let known = known::expand(item, pgflow);
    let named = by_name(item);
    let data = if let Some(held) = held(&named) {
        copy::Copy { item, named: &named, held: &held, has_schema: args.has_schema, pgflow }
            .expand()
    } else if let (true, Some(beside)) = (args.has_schema, held_beside(item)) {
        beside::expand(item, &beside, pgflow)
    } else {
        let (derives, private) = (derive(args.has_schema, pgflow), quote!(#pgflow::__private));
        let fields = held_at_least(item);
        let checks = fields.iter().map(|held| storable::check_field(held, &private));
        let checks: Vec<_> = checks.filter(|check| !check.is_empty()).collect();
        let checks = storable::constants(&checks, &private);
        quote!(#derives #item #checks)
    };
    quote!(#data #known)
}

/// The item with its own name for `Self`, which is another type elsewhere. A generic one has parameters beside its name.
fn by_name(item: &DeriveInput) -> DeriveInput {
    if !item.generics.params.is_empty() {
        return item.clone();
    }
    syn::parse2(named(item.to_token_stream(), &item.ident)).unwrap_or_else(|_| item.clone())
}

fn named(tokens: TokenStream, name: &Ident) -> TokenStream {
    let renamed = tokens.into_iter().map(|token| match token {
        TokenTree::Ident(word) if word == "Self" => {
            let mut name = name.clone();
            name.set_span(word.span());
            TokenTree::Ident(name)
        }
        TokenTree::Group(group) => {
            let mut new = Group::new(group.delimiter(), named(group.stream(), name));
            new.set_span(group.span());
            TokenTree::Group(new)
        }
        other => other,
    });
    renamed.collect()
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
