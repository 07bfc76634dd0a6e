//! First pass: the tokens of a `#[flow]` module, with its steps picked out.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::discouraged::Speculative;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Ident, Meta, Signature, Token, Visibility, token};

/// `#[flow] mod name { … }`.
///
/// Only steps are looked into. Everything else, function bodies included, passes through as
/// written: an item that is half typed in an editor does not stop the macro from seeing the rest.
pub struct FlowItem {
    /// Attributes other than `#[flow]`.
    pub attrs: Vec<Attribute>,
    /// Visibility of the module.
    pub vis: Visibility,
    /// The `mod` keyword.
    pub mod_token: Token![mod],
    /// Name of the module, which is the name of the flow.
    pub ident: Ident,
    /// The braces around the contents.
    pub braces: token::Brace,
    /// Contents, in order.
    pub content: Vec<Piece>,
}

/// A part of a `#[flow]` module.
pub enum Piece {
    /// A function marked `#[step]`.
    Step(Box<StepItem>),
    /// Something marked `#[step]` that is not a whole function: its other attributes, and why.
    Broken(TokenStream, syn::Error),
    /// Anything else.
    Other(TokenStream),
}

/// `#[step(…)] async fn name(…) -> … { … }`.
pub struct StepItem {
    /// The `#[step]` attribute.
    pub marker: Attribute,
    /// Other attributes, doc comments included.
    pub attrs: Vec<Attribute>,
    /// Visibility of the function.
    pub vis: Visibility,
    /// Everything from `async` to the return type.
    pub sig: Signature,
    /// The body, unparsed.
    pub body: TokenStream,
}

/// Whether an attribute's path ends in `name`, so that both `#[step]` and `#[pgflow::step]` count.
pub fn is_attr(attr: &Attribute, name: &str) -> bool {
    attr.path().segments.last().is_some_and(|segment| segment.ident == name)
}

impl FlowItem {
    /// The steps, in source order.
    pub fn steps(&self) -> impl Iterator<Item = &StepItem> {
        self.content.iter().filter_map(|piece| match piece {
            Piece::Step(step) => Some(&**step),
            Piece::Broken(..) | Piece::Other(_) => None,
        })
    }
}

impl StepItem {
    fn parse(marker: Attribute, attrs: &[Attribute], input: ParseStream<'_>) -> syn::Result<Self> {
        let vis = input.parse()?;
        if !is_function(input) {
            return Err(syn::Error::new_spanned(&marker, "`#[step]` goes on an `async fn`"));
        }
        Ok(Self {
            marker,
            attrs: attrs.to_vec(),
            vis,
            sig: input.parse()?,
            body: input.parse::<TokenTree>()?.into(),
        })
    }

    /// Whether it has a `self` parameter, which only methods can have.
    pub fn takes_self(&self) -> bool {
        self.sig.receiver().is_some()
    }
}

fn is_function(input: ParseStream<'_>) -> bool {
    input.peek(Token![fn])
        || input.peek(Token![async])
        || input.peek(Token![unsafe])
        || input.peek(Token![extern])
        || input.peek(Token![const]) && (input.peek2(Token![fn]) || input.peek2(Token![async]))
}

impl Parse for FlowItem {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let vis = input.parse()?;
        if !input.peek(Token![mod]) {
            return Err(input.error("`#[flow]` goes on a module: `#[flow] mod my_flow { … }`"));
        }
        let mod_token = input.parse()?;
        let ident: Ident = input.parse()?;
        if input.peek(Token![;]) {
            return Err(syn::Error::new_spanned(
                &ident,
                format!(
                    "a flow cannot be in a file of its own: write the steps here, `mod {ident} {{ … }}`, and let their bodies call into other files"
                ),
            ));
        }
        let content;
        let braces = syn::braced!(content in input);
        Ok(Self { attrs, vis, mod_token, ident, braces, content: pieces(&content)? })
    }
}

fn pieces(input: ParseStream<'_>) -> syn::Result<Vec<Piece>> {
    let mut content = Vec::new();
    let mut other = TokenStream::new();
    while !input.is_empty() {
        if !(input.peek(Token![#]) && input.peek2(token::Bracket)) {
            other.extend([input.parse::<TokenTree>()?]);
            continue;
        }
        let mut attrs = input.call(Attribute::parse_outer)?;
        match take_marker(&mut attrs) {
            None => attrs.iter().for_each(|attr| attr.to_tokens(&mut other)),
            Some(marker) => {
                content.push(Piece::Other(std::mem::take(&mut other)));
                content.push(marked(marker, &attrs, input));
            }
        }
    }
    content.push(Piece::Other(other));
    Ok(content)
}

/// The first `#[step]`, or the one that a `cfg_attr` holds: that one stays, to be reported.
fn take_marker(attrs: &mut Vec<Attribute>) -> Option<Attribute> {
    match attrs.iter().position(|attr| is_attr(attr, "step")) {
        Some(at) => Some(attrs.remove(at)),
        None => attrs.iter().find_map(conditional_marker),
    }
}

/// The `#[step]` in a `#[cfg_attr(…, step)]`.
pub(crate) fn conditional_marker(attr: &Attribute) -> Option<Attribute> {
    if !attr.path().is_ident("cfg_attr") {
        return None;
    }
    let metas = attr.parse_args_with(|args: ParseStream<'_>| {
        while !args.is_empty() && !args.peek(Token![,]) {
            args.parse::<TokenTree>()?; // The condition.
        }
        args.parse::<Token![,]>()?;
        Punctuated::<Meta, Token![,]>::parse_terminated(args)
    });
    let mut markers = metas.ok()?.into_iter().map(|meta| Attribute { meta, ..attr.clone() });
    markers.find(|attr| is_attr(attr, "step"))
}

/// What is left of a step's attributes. None may mark it again: outside a flow that is an error.
fn unmarked(attrs: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attrs.iter().filter(|attr| !is_attr(attr, "step") && conditional_marker(attr).is_none())
}

fn marked(marker: Attribute, attrs: &[Attribute], input: ParseStream<'_>) -> Piece {
    let fork = input.fork();
    match StepItem::parse(marker, attrs, &fork) {
        Ok(step) => {
            input.advance_to(&fork);
            Piece::Step(Box::new(step))
        }
        Err(error) => {
            let attrs = unmarked(attrs);
            Piece::Broken(quote!(#(#attrs)*), error)
        }
    }
}

impl ToTokens for StepItem {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { marker: _, attrs, vis, sig, body } = self;
        for attr in unmarked(attrs) {
            attr.to_tokens(tokens);
        }
        vis.to_tokens(tokens);
        sig.to_tokens(tokens);
        body.to_tokens(tokens);
    }
}

impl ToTokens for Piece {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Self::Step(step) => step.to_tokens(tokens),
            Self::Broken(other, _) | Self::Other(other) => other.to_tokens(tokens),
        }
    }
}
