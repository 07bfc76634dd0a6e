//! First pass: the tokens of a `#[flow]` or `#[job]` module, with its steps or needs picked out.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::discouraged::Speculative;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Ident, Meta, Signature, Token, Visibility, token};

use crate::suggest::closest;

/// `#[flow] mod name { … }`, or `#[job] mod name { … }`.
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

/// What the parts of a module are called, by users and in messages.
#[derive(Debug, PartialEq, Eq)]
pub struct Words {
    /// The attribute of the module.
    pub module: &'static str,
    /// The attribute of its functions.
    pub function: &'static str,
    /// Why a function cannot be there in some builds only.
    pub(crate) one_shape: &'static str,
    /// The name of the context's type.
    pub(crate) context: &'static str,
    /// What a function returns that outputs nothing.
    pub(crate) returns: &'static str,
    /// What else it may return.
    pub(crate) or_output: &'static str,
    /// How to return a value that is not in a `Result`; `{}` is its type.
    pub(crate) wrapped: &'static str,
}

/// `#[flow]` and `#[step]`.
pub(crate) const FLOW: Words = Words {
    module: "flow",
    function: "step",
    one_shape: "a flow has one shape in the database",
    context: "Context",
    returns: "pgflow::Result<()>",
    or_output: ", or the type it outputs between `<` and `>`",
    wrapped: "write `-> pgflow::Result<{}>`, and wrap the value in `Ok(…)`",
};

/// A part of a `#[flow]` module.
pub enum Piece {
    /// A function marked `#[step]`.
    Step(Box<StepItem>),
    /// Something marked `#[step]` that is not a whole function.
    Broken(Broken),
    /// Anything else.
    Other(TokenStream),
}

/// Something marked `#[step]` that is not a whole function.
pub struct Broken {
    /// Its name, if it is a function whose signature cannot be read.
    pub name: Option<Ident>,
    /// Its other attributes.
    pub attrs: TokenStream,
    /// The function, as far as it goes. Nothing for anything else, which follows as another piece.
    pub function: TokenStream,
    /// What is wrong.
    pub error: syn::Error,
}

/// `#[step(…)] async fn name(…) -> … { … }`.
pub struct StepItem {
    /// What it is called in messages.
    pub words: &'static Words,
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
            Piece::Broken(_) | Piece::Other(_) => None,
        })
    }
}

impl FlowItem {
    /// The names of steps whose signature cannot be read, in source order.
    pub(crate) fn unreadable(&self) -> impl Iterator<Item = &Ident> {
        self.content.iter().filter_map(|piece| match piece {
            Piece::Broken(broken) => broken.name.as_ref(),
            Piece::Step(_) | Piece::Other(_) => None,
        })
    }
}

impl StepItem {
    fn parse(
        words: &'static Words,
        marker: Attribute,
        attrs: &[Attribute],
        input: ParseStream<'_>,
    ) -> syn::Result<Self> {
        let vis = input.parse()?;
        if !is_function(input) {
            let message = format!("`#[{}]` goes on an `async fn`", words.function);
            return Err(syn::Error::new_spanned(&marker, message));
        }
        let mut sig: Signature = input.parse()?;
        // A keyword since edition 2024, where the compiler says so by itself: not again wherever our code repeats it.
        if sig.ident == "gen" {
            sig.ident = Ident::new_raw("gen", sig.ident.span());
        }
        let body = input.parse::<TokenTree>()?.into();
        Ok(Self { words, marker, attrs: attrs.to_vec(), vis, sig, body })
    }

    /// Such as ``step `fetch_user` ``.
    pub(crate) fn what(&self) -> String {
        format!("{} `{}`", self.words.function, self.sig.ident)
    }

    /// Whether it has a body, and not a `;` in its place.
    pub fn has_body(&self) -> bool {
        matches!(self.body.clone().into_iter().next(), Some(TokenTree::Group(_)))
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
        Self::parse_as(&FLOW, input)
    }
}

impl FlowItem {
    /// Reads a module whose functions are marked with these words.
    pub(crate) fn parse_as(words: &'static Words, input: ParseStream<'_>) -> syn::Result<Self> {
        let Words { module, function, .. } = words;
        let attrs = input.call(Attribute::parse_outer)?;
        let vis: Visibility = input.parse()?;
        if !input.peek(Token![mod]) {
            let rest: TokenStream = input.parse()?;
            let message =
                format!("`#[{module}]` goes on a module: `#[{module}] mod my_{module} {{ … }}`");
            return Err(syn::Error::new_spanned(quote!(#vis #rest), message));
        }
        let mod_token = input.parse()?;
        let ident: Ident = input.parse()?;
        if input.peek(Token![;]) {
            return Err(syn::Error::new_spanned(
                &ident,
                format!(
                    "a {module} cannot be in a file of its own: write the {function}s here, `mod {ident} {{ … }}`, and let their bodies call into other files"
                ),
            ));
        }
        let content;
        let braces = syn::braced!(content in input);
        Ok(Self { attrs, vis, mod_token, ident, braces, content: pieces(words, &content)? })
    }
}

fn pieces(words: &'static Words, input: ParseStream<'_>) -> syn::Result<Vec<Piece>> {
    let mut content = Vec::new();
    let mut other = TokenStream::new();
    while !input.is_empty() {
        if !(input.peek(Token![#]) && input.peek2(token::Bracket)) {
            other.extend([input.parse::<TokenTree>()?]);
            continue;
        }
        let mut attrs = input.call(Attribute::parse_outer)?;
        match take_marker(&mut attrs, words) {
            None => attrs.iter().for_each(|attr| attr.to_tokens(&mut other)),
            Some(marker) => {
                content.push(Piece::Other(std::mem::take(&mut other)));
                content.push(marked(words, marker, &attrs, input));
            }
        }
    }
    content.push(Piece::Other(other));
    Ok(content)
}

/// The first `#[step]`, one with a slip of the pen, or the one that a `cfg_attr` holds: that one stays, to be reported.
fn take_marker(attrs: &mut Vec<Attribute>, words: &Words) -> Option<Attribute> {
    let marker = attrs.iter().position(|attr| is_attr(attr, words.function));
    match marker.or_else(|| attrs.iter().position(|attr| is_misspelt_marker(attr, words))) {
        Some(at) => Some(attrs.remove(at)),
        None => attrs.iter().find_map(|attr| conditional_marker(attr, words)),
    }
}

/// Whether this is `#[step]` with a letter lost, doubled or swapped. Another letter may be another word, such as `stop`.
pub(crate) fn is_misspelt_marker(attr: &Attribute, words: &Words) -> bool {
    let right = words.function;
    let word = attr.path().get_ident().filter(|word| *word != right).map(ToString::to_string);
    let word = word.map(|word| word.to_lowercase());
    let has_no_other = |word: &String| word.chars().all(|letter| right.contains(letter));
    word.filter(has_no_other).is_some_and(|word| closest(&word, [right]).is_some())
}

/// The `#[step]` in a `#[cfg_attr(…, step)]`.
pub(crate) fn conditional_marker(attr: &Attribute, words: &Words) -> Option<Attribute> {
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
    markers.find(|attr| is_attr(attr, words.function))
}

/// What is left of a step's attributes. None may mark it again: outside a flow that is an error.
fn unmarked<'a>(words: &Words, attrs: &'a [Attribute]) -> impl Iterator<Item = &'a Attribute> {
    attrs
        .iter()
        .filter(|attr| !is_attr(attr, words.function) && conditional_marker(attr, words).is_none())
}

fn marked(
    words: &'static Words,
    marker: Attribute,
    attrs: &[Attribute],
    input: ParseStream<'_>,
) -> Piece {
    let fork = input.fork();
    match StepItem::parse(words, marker, attrs, &fork) {
        Ok(step) => {
            input.advance_to(&fork);
            Piece::Step(Box::new(step))
        }
        Err(error) => {
            let attrs = unmarked(words, attrs);
            let attrs = quote!(#(#attrs)*);
            Piece::Broken(broken(words, attrs, error, input))
        }
    }
}

/// A function whose signature cannot be read ends with its body, so that the next step is found.
fn broken(words: &Words, attrs: TokenStream, error: syn::Error, input: ParseStream<'_>) -> Broken {
    let fork = input.fork();
    let (mut function, mut name) = (TokenStream::new(), None);
    while let Ok(token) = fork.parse::<TokenTree>() {
        let is_fn = matches!(&token, TokenTree::Ident(word) if word == "fn");
        let is_end = match &token {
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
            other => matches!(other, TokenTree::Punct(mark) if mark.as_char() == ';'),
        };
        function.extend([token]);
        if is_fn && name.is_none() {
            name = fork.fork().parse::<Ident>().ok();
        }
        if is_end {
            break;
        }
    }
    let Some(named) = name else {
        return Broken { name: None, attrs, function: TokenStream::new(), error };
    };
    input.advance_to(&fork);
    let message = format!("{} `{named}` cannot be read: {error}", words.function);
    let error = syn::Error::new(error.span(), message);
    Broken { name: Some(named), attrs, function, error }
}

impl ToTokens for StepItem {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { words, marker: _, attrs, vis, sig, body } = self;
        for attr in unmarked(words, attrs) {
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
            Self::Broken(Broken { attrs, function, .. }) => {
                attrs.to_tokens(tokens);
                function.to_tokens(tokens);
            }
            Self::Other(other) => other.to_tokens(tokens),
        }
    }
}
