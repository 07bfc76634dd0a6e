//! Types that have all traits, and cannot be stored nevertheless.

use pgflow_syntax::{is_suspect, map_keys};
use proc_macro2::{Delimiter, Group, TokenStream};
use quote::{quote, quote_spanned};
use syn::Type;

use crate::span::Ends;

/// Statements that fail to evaluate if this type cannot be stored; none if nothing speaks against it.
///
/// `private` is the path of `pgflow::__private`, whose `Unknown` must be in scope.
pub(crate) fn check(what: &str, ty: &Type, private: &TokenStream) -> Option<TokenStream> {
    if !is_suspect(ty) {
        return None;
    }
    let fail = fail(ty);
    let keys = map_keys(ty);
    Some(quote! {
        if let ::core::option::Option::Some(why) = #private::refused(#what, <#private::Probe<#ty>>::JSON) {
            #fail
        }
        #(if let ::core::option::Option::Some(why) = #private::refused_keys(#what, <#private::Probe<#keys>>::JSON) {
            #fail
        })*
    })
}

/// Panics with the text `why`, at a type.
pub(crate) fn fail(ty: &Type) -> TokenStream {
    let Ends { first, last } = Ends::of(ty);
    let mut arguments = Group::new(Delimiter::Parenthesis, quote!("{}", why.as_str()));
    arguments.set_span(last);
    quote_spanned!(first=> ::core::panic! #arguments)
}
