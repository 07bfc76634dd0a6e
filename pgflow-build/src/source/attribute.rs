//! Attributes that decide whether and where a module is read.

use pgflow_syntax::is_attr;
use proc_macro2::TokenTree;
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, Lit, Meta, Token};

/// `file.rs` of `#[path = "file.rs"]`.
pub(super) fn path(attrs: &[Attribute]) -> Option<String> {
    attrs.iter().find_map(|attr| match &attr.meta {
        Meta::NameValue(meta) if meta.path.is_ident("path") => text(&meta.value),
        _ => None,
    })
}

/// The text of a literal.
pub(super) fn text(value: &Expr) -> Option<String> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

/// Whether an item is there in tests only. Other conditions are not looked at: migrations are for
/// every way to build the crate.
pub(super) fn is_test(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|attr| {
        is_attr(attr, "test")
            || is_attr(attr, "bench")
            || attr.path().is_ident("cfg")
                && attr.parse_args::<Meta>().is_ok_and(|meta| needs_test(&meta))
    })
}

fn needs_test(meta: &Meta) -> bool {
    let Meta::List(list) = meta else {
        return meta.path().is_ident("test") || meta.path().is_ident("doctest");
    };
    let parts = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
    let Ok(parts) = parts else { return false };
    if list.path.is_ident("all") {
        parts.iter().any(needs_test)
    } else {
        list.path.is_ident("any") && !parts.is_empty() && parts.iter().all(needs_test)
    }
}

/// Whether an item may be left out of a build.
pub(super) fn is_conditional(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|attr| attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr"))
}

/// A `#[cfg_attr(…)]` that says `word` somewhere: what it does depends on how the crate is built.
pub(super) fn conditional<'a>(attrs: &'a [Attribute], word: &str) -> Option<&'a Attribute> {
    attrs.iter().find(|attr| {
        let Meta::List(list) = &attr.meta else { return false };
        let says = |token: TokenTree| matches!(token, TokenTree::Ident(ident) if ident == word);
        is_attr(attr, "cfg_attr") && list.tokens.clone().into_iter().any(says)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_needs_a_test_build_is_left_out() {
        for (text, is_left_out) in [
            ("#[cfg(test)]", true),
            ("#[cfg(all(unix, test))]", true),
            ("#[cfg(any(test, doctest))]", true),
            ("#[tokio::test]", true),
            ("#[cfg(any(test, feature = \"flows\"))]", false),
            ("#[cfg(not(test))]", false),
            ("#[cfg(feature = \"test\")]", false),
            ("#[cfg(windows)]", false),
        ] {
            let item: syn::ItemStruct = syn::parse_str(&format!("{text} struct A;")).expect(text);
            assert_eq!(is_test(&item.attrs), is_left_out, "{text}");
        }
    }
}
