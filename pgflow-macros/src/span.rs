//! What gets underlined.
//!
//! Only brackets and keywords are put on the user's code. They name nothing, so an editor that is
//! asked about the code under them does not answer with ours.

use proc_macro2::{Ident, Punct, Spacing, Span, TokenStream};
use quote::{ToTokens, TokenStreamExt as _, format_ident, quote};

/// What generated code inside the module calls `pgflow::__private`.
pub(crate) const SHORT: &str = "__pgflow";

/// A type without fields. The compiler points at `shown` when it points at the type's definition.
///
/// Keywords go on the first token of `shown`, which should name nothing: an editor describes them.
pub(crate) fn marker(
    vis: &TokenStream,
    keyword: &str,
    name: &Ident,
    body: &TokenStream,
    shown: Option<Ends>,
) -> TokenStream {
    let keyword = format_ident!("{keyword}");
    let Some(Ends { first, last }) = shown else { return quote!(#vis #keyword #name #body) };
    let (vis, keyword) = (at(vis, first), at(&keyword.to_token_stream(), first));
    let body = at(body, last);
    quote!(#vis #keyword #name #body)
}

/// A type, spelled so that the compiler underlines `shown` when it complains about the type.
pub(crate) struct ShownAt<'a> {
    pub(crate) ty: &'a Ident,
    pub(crate) shown: Ends,
}

impl ToTokens for ShownAt<'_> {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let rule = Rule("Itself", &[]);
        Member { ty: self.ty, rule: &rule, name: "Itself", shown: self.shown }.to_tokens(tokens);
    }
}

/// `__pgflow::name<arguments>`.
///
/// This and what follows is written token by token: streams inside streams are slow in a macro that
/// was compiled without optimization, as most are.
pub(crate) struct Rule<'a>(pub(crate) &'static str, pub(crate) &'a [&'a dyn ToTokens]);

impl ToTokens for Rule<'_> {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let here = Span::call_site();
        word(tokens, SHORT, here);
        colons(tokens);
        word(tokens, self.0, here);
        mark(tokens, '<', here);
        for (at, argument) in self.1.iter().enumerate() {
            if at > 0 {
                mark(tokens, ',', here);
            }
            argument.to_tokens(tokens);
        }
        mark(tokens, '>', here);
    }
}

/// `<step as __pgflow::Step>::Output`.
pub(crate) struct OutputOf<'a>(pub(crate) &'a Ident);

impl ToTokens for OutputOf<'_> {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let here = Span::call_site();
        mark(tokens, '<', here);
        tokens.append(self.0.clone());
        word(tokens, "as", here);
        word(tokens, SHORT, here);
        colons(tokens);
        word(tokens, "Step", here);
        mark(tokens, '>', here);
        colons(tokens);
        word(tokens, "Output", here);
    }
}

/// `<ty as rule>::name`, underlined as `shown` when `ty` breaks the rule.
///
/// Compilers differ in what they underline, `ty` or the whole path, so both look like `shown`.
pub(crate) struct Member<'a> {
    pub(crate) ty: &'a dyn ToTokens,
    pub(crate) rule: &'a dyn ToTokens,
    pub(crate) name: &'static str,
    pub(crate) shown: Ends,
}

impl ToTokens for Member<'_> {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let here = Span::call_site();
        mark(tokens, '<', self.shown.first);
        self.ty.to_tokens(tokens);
        word(tokens, "as", here);
        self.rule.to_tokens(tokens);
        mark(tokens, '>', here);
        colons(tokens);
        word(tokens, self.name, here);
        colons(tokens);
        mark(tokens, '<', here);
        mark(tokens, '>', self.shown.last);
    }
}

fn word(tokens: &mut TokenStream, word: &str, span: Span) {
    tokens.append(Ident::new(word, span));
}

fn mark(tokens: &mut TokenStream, mark: char, span: Span) {
    let mut mark = Punct::new(mark, Spacing::Alone);
    mark.set_span(span);
    tokens.append(mark);
}

fn colons(tokens: &mut TokenStream) {
    tokens.append(Punct::new(':', Spacing::Joint));
    tokens.append(Punct::new(':', Spacing::Alone));
}

/// Where some tokens start and end.
#[derive(Clone, Copy)]
pub(crate) struct Ends {
    pub(crate) first: Span,
    pub(crate) last: Span,
}

impl Ends {
    pub(crate) fn of(tokens: impl ToTokens) -> Self {
        let mut tokens = tokens.into_token_stream().into_iter();
        let first = tokens.next().map_or_else(Span::call_site, |token| token.span());
        Self { first, last: tokens.last().map_or(first, |token| token.span()) }
    }
}

fn at(tokens: &TokenStream, span: Span) -> TokenStream {
    let moved = tokens.clone().into_iter().map(|mut token| {
        token.set_span(span);
        token
    });
    moved.collect()
}

/// A variable of generated code, which hides no step of the same name.
pub(crate) fn local(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}
