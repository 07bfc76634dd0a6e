//! A hidden copy of a type, for derives whose errors would be long. See `pgflow_runtime`'s `derived`.

use std::collections::HashSet;

use pgflow_syntax::{HeldType, is_attr, pretty};
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;
use syn::{Attribute, Data, DeriveInput, Field, Type, parse_quote};

use super::derive;
use crate::storable;

/// The type, and its traits by way of a copy.
pub(super) fn expand(
    item: &DeriveInput,
    held: &[HeldType<'_>],
    pgflow: &TokenStream,
) -> TokenStream {
    let name = &item.ident;
    let known = has_serde(item).then(|| quote!(#[derive(#pgflow::__Attributes)]));
    let plain = name.unraw();
    let (copy, checked) = (format_ident!("__{plain}"), format_ident!("{plain}_can_be_stored"));
    let copied = copied(item, held, pgflow);
    let checks = held.iter().map(|held| check(held, pgflow));
    let (types, skipped) = (types(held, false), types(held, true));
    quote! {
        #known
        #item

        const _: () = {
            #[allow(unused_imports)]
            use #pgflow::__private::{NotDerived as _, NotDescribed as _};

            #[allow(non_camel_case_types)]
            type #checked = (#(#checks,)*);

            #copied

            #pgflow::__private::impl_data!(#name, #copy, #checked, [#(#types),*], [#(#skipped),*]);
        };
    }
}

/// The copy, with derives that take it for granted that what it holds can be stored.
fn copied(item: &DeriveInput, held: &[HeldType<'_>], pgflow: &TokenStream) -> TokenStream {
    let mut copy = item.clone();
    copy.ident = format_ident!("__{}", item.ident.unraw());
    copy.vis = syn::Visibility::Inherited;
    each_attrs(&mut copy, &mut |attrs| attrs.retain(is_described));
    let derives = derive(true, pgflow);
    let (remote, name) = (pretty(&item.ident), item.ident.unraw().to_string());
    let private = quote!(#pgflow::__private);
    let (types, skipped) = (types(held, false), types(held, true));
    copy.generics.where_clause = Some(parse_quote! {
        where #(for<'a> #types: #private::Holdable<'a>,)* #(for<'a> #skipped: #private::Defaulted<'a>,)*
    });
    quote! {
        #derives
        #[serde(remote = #remote, rename = #name)]
        #[allow(dead_code, clippy::all, clippy::pedantic)]
        #copy
    }
}

/// A type that cannot be evaluated if a field cannot be stored.
pub(super) fn check(held: &HeldType<'_>, pgflow: &TokenStream) -> TokenStream {
    let HeldType { what, ty, is_skipped } = held;
    let of = quote!(<#pgflow::__private::Held<#ty>>);
    let (fail, can_derive) = (storable::fail(ty), can_derive(ty));
    if *is_skipped {
        return quote! {
            [(); {
                #[allow(unused_imports)]
                use #pgflow::__private::NotHeld as _;
                if let ::core::option::Option::Some(why) = #pgflow::__private::no_default(#what, #of::DEFAULT) {
                    #fail
                }
                0
            }]
        };
    }
    let storable = storable::check(what, ty, &quote!(#pgflow::__private));
    quote! {
        [(); {
            #[allow(unused_imports)]
            use #pgflow::__private::{NotHeld as _, Unknown as _};
            let has = [#of::SERIALIZE, #of::DESERIALIZE, #of::JSON_SCHEMA];
            if let ::core::option::Option::Some(why) = #pgflow::__private::missing(#what, has, #can_derive) {
                #fail
            }
            #storable
            0
        }]
    }
}

/// Whether the type may be one of the user's own, as far as its spelling shows it.
fn can_derive(ty: &Type) -> bool {
    const OTHERS: [&str; 5] = ["std", "core", "alloc", "dyn", "fn"];
    let text = pretty(ty);
    let mut words = text.split(|it: char| !it.is_alphanumeric() && it != '_');
    !text.contains(['*', '&']) && !words.any(|word| OTHERS.contains(&word))
}

/// Each type once, of the fields that are skipped or of the others.
pub(super) fn types(held: &[HeldType<'_>], is_skipped: bool) -> Vec<TokenStream> {
    let mut seen = HashSet::new();
    let mut types = Vec::new();
    for held in held.iter().filter(|held| held.is_skipped == is_skipped) {
        if seen.insert(pretty(held.ty)) {
            types.push(held.ty.to_token_stream());
        }
    }
    types
}

/// Whether an attribute says how something is stored or described.
fn is_described(attr: &Attribute) -> bool {
    ["serde", "doc", "deprecated", "validate", "garde"].iter().any(|name| is_attr(attr, name))
}

fn has_serde(item: &DeriveInput) -> bool {
    let mut found = false;
    each_attrs(&mut item.clone(), &mut |attrs| {
        found |= attrs.iter().any(|attr| is_attr(attr, "serde"));
    });
    found
}

pub(super) fn each_attrs(item: &mut DeriveInput, change: &mut impl FnMut(&mut Vec<Attribute>)) {
    change(&mut item.attrs);
    match &mut item.data {
        Data::Struct(data) => data.fields.iter_mut().for_each(|field| change(&mut field.attrs)),
        Data::Enum(data) => {
            for variant in &mut data.variants {
                change(&mut variant.attrs);
                variant.fields.iter_mut().for_each(|field: &mut Field| change(&mut field.attrs));
            }
        }
        Data::Union(_) => {}
    }
}
