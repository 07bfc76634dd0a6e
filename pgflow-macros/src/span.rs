//! What gets underlined.
//!
//! Only brackets and keywords are put on the user's code. They name nothing, so an editor that is
//! asked about the code under them does not answer with ours.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};

/// A type without fields. The compiler points at `shown` when it points at the type's definition.
///
/// Keywords go on the first token of `shown`, which should name nothing: an editor describes them.
pub(crate) fn marker(
    vis: &TokenStream,
    keyword: &str,
    name: &Ident,
    body: &TokenStream,
    shown: Option<impl ToTokens>,
) -> TokenStream {
    let keyword = format_ident!("{keyword}");
    let Some(shown) = shown else { return quote!(#vis #keyword #name #body) };
    let (first, last) = ends(shown);
    let (vis, keyword) = (at(vis, first), at(&keyword.to_token_stream(), first));
    let body = at(body, last);
    quote!(#vis #keyword #name #body)
}

/// A type, spelled so that the compiler underlines `shown` when it complains about the type.
pub(crate) fn shown_at(ty: &Ident, pgflow: &TokenStream, shown: impl ToTokens) -> TokenStream {
    let mut ty = ty.clone();
    ty.set_span(Span::call_site());
    let (start, end) = brackets(shown);
    quote!(#start #ty as #pgflow::__private::Itself>::Itself< #end)
}

/// `<ty as rule>::Item`, underlined as `shown` when `ty` breaks the rule.
pub(crate) fn item_of(ty: &Ident, rule: &TokenStream, shown: impl ToTokens) -> TokenStream {
    let (start, end) = brackets(shown);
    quote!(#start #ty as #rule>::Item< #end)
}

/// `<ty as rule>::name`, underlined as `shown` when `ty` breaks the rule.
///
/// Compilers differ in what they underline, `ty` or the whole path, so both look like `shown`.
pub(crate) fn function(
    ty: impl ToTokens,
    rule: &TokenStream,
    name: &str,
    shown: impl ToTokens,
) -> TokenStream {
    let (start, end) = brackets(shown);
    let name = format_ident!("{name}");
    quote!(#start #ty as #rule>::#name::< #end)
}

/// `<` where `shown` starts, and `>` where it ends.
fn brackets(shown: impl ToTokens) -> (TokenStream, TokenStream) {
    let (first, last) = ends(shown);
    (quote_spanned!(first=> <), quote_spanned!(last=> >))
}

/// Where some tokens start and end.
pub(crate) fn ends(tokens: impl ToTokens) -> (Span, Span) {
    let mut tokens = tokens.into_token_stream().into_iter();
    let first = tokens.next().map_or_else(Span::call_site, |token| token.span());
    (first, tokens.last().map_or(first, |token| token.span()))
}

fn at(tokens: &TokenStream, span: Span) -> TokenStream {
    let moved = tokens.clone().into_iter().map(|mut token| {
        token.set_span(span);
        token
    });
    moved.collect()
}
