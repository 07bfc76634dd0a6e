//! A hidden copy of a type, for derives whose errors would be long. See `pgflow_runtime`'s `derived`.

use std::collections::HashSet;

use pgflow_syntax::{Held, HeldType, is_attr, pretty};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;
use syn::{Attribute, Data, DeriveInput, Field, Type, parse_quote};

use super::derive;
use crate::storable;

/// What a copy is made of.
pub(super) struct Copy<'a> {
    /// The type as written.
    pub(super) item: &'a DeriveInput,
    /// The same without `Self`.
    pub(super) named: &'a DeriveInput,
    pub(super) held: &'a Held<'a>,
    pub(super) has_schema: bool,
    /// The path of the crate `pgflow`.
    pub(super) pgflow: &'a TokenStream,
}

impl Copy<'_> {
    /// The type, and its traits by way of a copy.
    pub(super) fn expand(&self) -> TokenStream {
        let Self { item, held, has_schema, pgflow, .. } = self;
        let name = &item.ident;
        let known = has_serde(item).then(|| quote!(#[derive(#pgflow::__Attributes)]));
        let plain = name.unraw();
        let (copy, checked) = (self.name(), format_ident!("{plain}_can_be_stored"));
        let copied = self.copied();
        let checks = held.all.iter().map(|held| check(held, *has_schema, pgflow));
        let default = self.held.defaulted.as_ref().map(|ty| default_check(name, ty, pgflow));
        let checks = checks.chain(default);
        let (types, skipped) = (self.stored(), self.made_anew());
        let (holdable, schema_name) = (self.holdable(), &held.name);
        let described = has_schema
            .then(|| quote!(#pgflow::__private::impl_described!(#name, #checked, #schema_name);));
        quote! {
            #known
            #item

            const _: () = {
                #[allow(unused_imports)]
                use #pgflow::__private::{NotDerived as _, NotDescribed as _};

                #[allow(non_camel_case_types)]
                type #checked = (#(#checks,)*);

                #copied

                #pgflow::__private::impl_data!(#name, #copy, #checked, #holdable, [#(#types),*], [#(#skipped),*]);
                #described
            };
        }
    }

    fn name(&self) -> Ident {
        format_ident!("__{}", self.item.ident.unraw())
    }

    fn stored(&self) -> Vec<TokenStream> {
        types(&self.held.all, false)
    }

    /// The types of what is not stored.
    fn made_anew(&self) -> Vec<TokenStream> {
        let mut all = types(&self.held.all, true);
        all.extend(self.held.defaulted.iter().map(ToTokens::to_token_stream));
        all
    }

    /// What stored types are.
    fn holdable(&self) -> Ident {
        format_ident!("{}", if self.has_schema { "Holdable" } else { "HoldableWithoutSchema" })
    }

    /// The copy, with derives that take it for granted that what it holds can be stored.
    fn copied(&self) -> TokenStream {
        let (mut copy, pgflow) = (self.named.clone(), self.pgflow);
        copy.ident = self.name();
        copy.vis = syn::Visibility::Inherited;
        each_attrs(&mut copy, &mut |attrs| attrs.retain(is_described));
        let derives = derive(self.has_schema, pgflow);
        let (remote, name) = (pretty(&self.item.ident), self.item.ident.unraw().to_string());
        let private = quote!(#pgflow::__private);
        let (types, anew, holdable) = (self.stored(), self.made_anew(), self.holdable());
        copy.generics.where_clause = Some(parse_quote! {
            where #(for<'a> #types: #private::#holdable<'a>,)* #(for<'a> #anew: #private::Defaulted<'a>,)*
        });
        let rename = (self.held.name == name).then(|| quote!(#[serde(rename = #name)]));
        let default = self.held.defaulted.as_ref().map(|of| default(&copy, of));
        // serde would ask whether the copy has a default before anything is taken for granted.
        let unbound = default.as_ref().map(|_| quote!(#[serde(bound(deserialize = ""))]));
        quote! {
            #derives
            #[serde(remote = #remote)]
            #rename
            #unbound
            #[allow(dead_code, clippy::all, clippy::pedantic)]
            #copy

            #default
        }
    }
}

/// The copy's `Default`, from that of the type itself: schemars describes what is in it.
fn default(copy: &DeriveInput, of: &Type) -> TokenStream {
    let (name, clause) = (&copy.ident, &copy.generics.where_clause);
    let Data::Struct(data) = &copy.data else { return TokenStream::new() };
    let members: Vec<_> = data.fields.members().collect();
    let values: Vec<_> = (0..members.len()).map(|at| format_ident!("value{at}")).collect();
    quote! {
        impl ::core::default::Default for #name #clause {
            fn default() -> Self {
                let #of { #(#members: #values),* } = <#of as ::core::default::Default>::default();
                Self { #(#members: #values),* }
            }
        }
    }
}

/// A type that cannot be evaluated if the type has no default, though its fields are read from it.
fn default_check(name: &Ident, ty: &Type, pgflow: &TokenStream) -> TokenStream {
    let (what, fail) = (name.to_string(), storable::fail(ty));
    quote! {
        [(); {
            #[allow(unused_imports)]
            use #pgflow::__private::NotHeld as _;
            let has_default = <#pgflow::__private::Held<#ty>>::DEFAULT;
            if let ::core::option::Option::Some(why) = #pgflow::__private::not_defaulted(#what, has_default) {
                #fail
            }
            0
        }]
    }
}

/// A type that cannot be evaluated if a field cannot be stored.
pub(super) fn check(held: &HeldType<'_>, has_schema: bool, pgflow: &TokenStream) -> TokenStream {
    let HeldType { what, ty, is_skipped, .. } = held;
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
    let storable = storable::check_field(held, &quote!(#pgflow::__private));
    let has_schema = if has_schema { quote!(#of::JSON_SCHEMA) } else { quote!(true) };
    quote! {
        [(); {
            #[allow(unused_imports)]
            use #pgflow::__private::{NotHeld as _, Unknown as _};
            let has = [#of::SERIALIZE, #of::DESERIALIZE, #has_schema];
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
    ["serde", "schemars", "doc", "deprecated", "validate", "garde"]
        .iter()
        .any(|name| is_attr(attr, name))
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
