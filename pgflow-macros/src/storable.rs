//! Types that have all traits, and cannot be stored nevertheless.

use pgflow_syntax::{HeldType, Place, is_suspect, map_keys};
use proc_macro2::{Delimiter, Group, TokenStream};
use quote::{ToTokens as _, quote, quote_spanned};
use syn::Type;

use crate::editor::is_editor;
use crate::span::Ends;

/// Statements that fail to evaluate if this type cannot be stored; none if nothing speaks against it.
///
/// `private` is the path of `pgflow::__private`, whose `Unknown` must be in scope.
pub(crate) fn check(what: &str, ty: &Type, private: &TokenStream) -> Option<TokenStream> {
    is_suspect(ty).then(|| check_behind(what, &ty.to_token_stream(), ty, private))
}

/// The same for a type that only the compiler knows, and that is written as `shown`.
pub(crate) fn check_behind(
    what: &str,
    ty: &TokenStream,
    shown: &Type,
    private: &TokenStream,
) -> TokenStream {
    let fail = fail(shown);
    let keys = map_keys(shown);
    quote! {
        if let ::core::option::Option::Some(why) = #private::refused(#what, <#private::Probe<#ty>>::JSON) {
            #fail
        }
        #(if let ::core::option::Option::Some(why) = #private::refused_keys(#what, <#private::Probe<#keys>>::JSON) {
            #fail
        })*
    }
}

/// The same for a field, which may have to be an object.
pub(crate) fn check_field(held: &HeldType<'_>, private: &TokenStream) -> TokenStream {
    let HeldType { what, ty, place, .. } = held;
    let storable = check(what, ty, private);
    let refused = match place {
        Place::Own => return storable.into_token_stream(),
        Place::Flattened => quote!(refused_flattened),
        Place::Tagged => quote!(refused_tagged),
    };
    let fail = fail(ty);
    quote! {
        if let ::core::option::Option::Some(why) = #private::#refused(#what, <#private::Probe<#ty>>::JSON) {
            #fail
        }
        #storable
    }
}

/// These checks as constants. The compiler shows their name. An editor compiles none, and would take what is at a type for its definition.
pub(crate) fn constants(checks: &[TokenStream], private: &TokenStream) -> Option<TokenStream> {
    if checks.is_empty() || is_editor() {
        return None;
    }
    Some(quote! {
        const _: () = {
            #[allow(unused_imports)]
            use #private::Unknown as _;
            #(
                const _: () = {
                    #[allow(dead_code, non_upper_case_globals)]
                    const can_be_stored: () = { #checks };
                };
            )*
        };
    })
}

/// Panics with the text `why`, at a type.
pub(crate) fn fail(ty: &Type) -> TokenStream {
    let Ends { first, last } = Ends::of(ty);
    let mut arguments = Group::new(Delimiter::Parenthesis, quote!("{}", why.as_str()));
    arguments.set_span(last);
    quote_spanned!(first=> ::core::panic! #arguments)
}
