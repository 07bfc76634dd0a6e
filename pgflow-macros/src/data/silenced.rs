//! A `#[data]` type that is wrong.

use proc_macro2::TokenStream;
use quote::quote;
use syn::DeriveInput;

/// A type with mistakes: it has all traits, or everything that uses it would be wrong too.
pub(super) fn expand(item: &DeriveInput, pgflow: &TokenStream) -> TokenStream {
    let (name, (impl_generics, ty_generics, clause)) =
        (&item.ident, item.generics.split_for_impl());
    let mut bare = item.clone();
    super::copy::each_attrs(&mut bare, &mut |attrs| {
        attrs.retain(|attr| !["serde", "schemars"].iter().any(|known| attr.path().is_ident(known)));
    });
    let mut with_lifetime = item.generics.clone();
    with_lifetime.params.insert(0, syn::parse_quote!('__de));
    let (de_generics, ..) = with_lifetime.split_for_impl();
    let (serde, schemars) =
        (quote!(#pgflow::__private::serde), quote!(#pgflow::__private::schemars));
    quote! {
        #bare

        impl #impl_generics #serde::Serialize for #name #ty_generics #clause {
            fn serialize<S: #serde::Serializer>(&self, _: S) -> ::core::result::Result<S::Ok, S::Error> {
                ::core::unreachable!()
            }
        }

        impl #de_generics #serde::Deserialize<'__de> for #name #ty_generics #clause {
            fn deserialize<D: #serde::Deserializer<'__de>>(_: D) -> ::core::result::Result<Self, D::Error> {
                ::core::unreachable!()
            }
        }

        impl #impl_generics #schemars::JsonSchema for #name #ty_generics #clause {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                ::core::unreachable!()
            }

            fn json_schema(_: &mut #schemars::SchemaGenerator) -> #schemars::Schema {
                ::core::unreachable!()
            }
        }
    }
}
