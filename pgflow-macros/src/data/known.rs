//! What the compiler can know of how a type is stored, so that it can compare that with conditions.

use pgflow_syntax::{StoredAs, stored_as};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::DeriveInput;

/// `impl Known`, where attributes tell how the type is stored.
pub(super) fn expand(item: &DeriveInput, pgflow: &TokenStream) -> Option<TokenStream> {
    let stored = stored_as(item)?;
    let [json, flat] = ["JSON", "FLAT"].map(|word| {
        let word = format_ident!("{word}");
        let json = tokens(&stored, &word, pgflow);
        quote!(const #word: &'static #pgflow::__private::Json = #json;)
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

fn tokens(stored: &StoredAs<'_>, word: &Ident, pgflow: &TokenStream) -> TokenStream {
    let json = quote!(#pgflow::__private::Json);
    let all = |of: &[StoredAs<'_>]| {
        let of = of.iter().map(|stored| tokens(stored, word, pgflow));
        quote!(&[#(#of),*])
    };
    match stored {
        StoredAs::Unknown => quote!(&#json::Unknown),
        StoredAs::Null => quote!(&#json::Null),
        StoredAs::Word(text) => quote!(&#json::Word(#text)),
        StoredAs::Type(ty) => quote!(<#pgflow::__private::Probe<#ty>>::#word),
        StoredAs::Tuple(of) => {
            let of = all(of);
            quote!(&#json::Tuple(#of))
        }
        StoredAs::OneOf(of) => {
            let of = all(of);
            quote!(&#json::OneOf(#of))
        }
        StoredAs::Object(fields) => {
            let fields = fields.iter().map(|(name, stored)| {
                let json = tokens(stored, word, pgflow);
                quote!(#pgflow::__private::Field { name: #name, json: #json })
            });
            quote!(&#json::Object(&[#(#fields),*]))
        }
    }
}
