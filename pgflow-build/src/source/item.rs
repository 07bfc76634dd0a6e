//! The items of a file or module.

use pgflow_syntax::is_attr;
use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use syn::parse::discouraged::Speculative as _;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Ident, LitStr, Token, Visibility};

use super::scope::Scope;
use super::{Reader, attribute, hidden};
use crate::error::Error;
use crate::location::SourceLocation;

/// An item, as far as it matters here.
enum Item {
    Flow(Box<Attribute>, TokenStream),
    File { name: Ident, attrs: Vec<Attribute> },
    Inline { name: Ident, attrs: Vec<Attribute>, content: TokenStream },
    Other { attrs: Vec<Attribute>, tokens: Vec<TokenTree> },
}

impl Reader<'_> {
    /// Reads the items of a file or module.
    pub(super) fn items(&mut self, tokens: TokenStream, scope: &Scope) -> Result<(), Error> {
        for item in split(tokens) {
            match item {
                Item::Flow(marker, item) => self.flow(&marker, item, scope),
                Item::File { name, attrs } => self.module(&name, &attrs, scope)?,
                Item::Inline { name, attrs, content } => {
                    if !attribute::is_test(&attrs) {
                        self.report_conditional(&attrs, scope);
                        let path = attribute::path(&attrs);
                        let inner = scope.inline(&name.to_string(), path.as_deref());
                        self.items(content, &inner.conditional(attribute::is_conditional(&attrs)))?;
                    }
                }
                Item::Other { attrs, tokens } => {
                    if !attribute::is_test(&attrs) {
                        self.other(&tokens, scope)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// `mod name;`.
    fn module(&mut self, name: &Ident, attrs: &[Attribute], scope: &Scope) -> Result<(), Error> {
        if attribute::is_test(attrs) {
            return Ok(());
        }
        self.report_conditional(attrs, scope);
        let slug = name.to_string();
        let dir = self.dir;
        let child = match attribute::path(attrs) {
            Some(path) => scope.at(&path),
            None => scope.child(slug.trim_start_matches("r#"), |file| dir.join(file).is_file()),
        };
        let child = child.conditional(attribute::is_conditional(attrs));
        // Flows may be on their way there, so it cannot be said that they are gone.
        if !child.is_conditional && !dir.join(&child.file).is_file() {
            let text = format!("there is no file {} for this module", child.file.display());
            self.problem(SourceLocation::of(&scope.file, name.span()), text);
        }
        self.file(&child)
    }

    fn report_conditional(&mut self, attrs: &[Attribute], scope: &Scope) {
        for (word, what) in [("path", "where this module is"), ("flow", "whether this is a flow")] {
            if let Some(attr) = attribute::conditional(attrs, word) {
                let place = SourceLocation::of(&scope.file, attr.pound_token.span);
                self.unseen(place, format!("{what} depends on `cfg_attr`, which is not followed"));
            }
        }
    }

    /// Anything but a module: macros may write flows, and functions may hold some.
    fn other(&mut self, tokens: &[TokenTree], scope: &Scope) -> Result<(), Error> {
        let all: TokenStream = tokens.iter().cloned().collect();
        let first = tokens.iter().find_map(|token| match token {
            TokenTree::Ident(ident) if ident != "pub" && ident != "crate" => Some(ident),
            _ => None,
        });
        let place = |span: Span| SourceLocation::of(&scope.file, span);
        if first.is_some_and(|word| word == "use") {
            if let Some((span, name)) = hidden::renamed(all) {
                let why =
                    format!("flows marked `#[{name}]` are not seen: import `flow` by its name");
                self.unseen(place(span), why);
            }
        } else if let Some((name, arguments)) = macro_call(tokens) {
            self.macro_call(&name, arguments, scope)?;
        } else if let Some(span) = hidden::find(all) {
            self.unseen(place(span), "a flow inside a function is not seen: move it out");
        }
        Ok(())
    }

    fn macro_call(
        &mut self,
        name: &Ident,
        arguments: TokenStream,
        scope: &Scope,
    ) -> Result<(), Error> {
        let place = |span: Span| SourceLocation::of(&scope.file, span);
        if name == "include" {
            if let Ok(path) = syn::parse2::<LitStr>(arguments) {
                return self.file(&scope.included(&path.value()));
            }
            self.unseen(place(name.span()), "flows in this included file are not seen");
            return Ok(());
        }
        if let Some(span) = hidden::find(arguments) {
            self.unseen(place(span), format!("a flow written by the macro `{name}!` is not seen"));
        }
        Ok(())
    }
}

/// Splits tokens into items. Where one is not understood, it goes on with the next token: what is no
/// Rust is for the compiler to say, and must not hide the flows after it.
fn split(tokens: TokenStream) -> Vec<Item> {
    let mut items = Vec::new();
    let read = |input: ParseStream<'_>| {
        let _ = input.call(Attribute::parse_inner);
        while !input.is_empty() {
            let ahead = input.fork();
            if let Ok(item) = item(&ahead) {
                input.advance_to(&ahead);
                items.push(item);
            } else {
                input.parse::<TokenTree>()?;
            }
        }
        Ok(())
    };
    let _ = read.parse2(tokens);
    items
}

fn item(input: ParseStream<'_>) -> syn::Result<Item> {
    let ahead = input.fork();
    let attrs = ahead.call(Attribute::parse_outer)?;
    ahead.parse::<Visibility>()?;
    if !ahead.peek(Token![mod]) {
        let attrs = input.call(Attribute::parse_outer)?;
        return Ok(Item::Other { attrs, tokens: until_end(input)? });
    }
    if let Some(marker) = attrs.iter().find(|attr| is_attr(attr, "flow"))
        && !attribute::is_test(&attrs)
    {
        let attrs = input.call(Attribute::parse_outer)?;
        let kept = attrs.iter().filter(|attr| !is_attr(attr, "flow"));
        let mut tokens: TokenStream = kept.flat_map(quoted).collect();
        tokens.extend(until_end(input)?);
        return Ok(Item::Flow(Box::new(marker.clone()), tokens));
    }
    input.call(Attribute::parse_outer)?;
    input.parse::<Visibility>()?;
    input.parse::<Token![mod]>()?;
    let name: Ident = input.parse()?;
    if input.parse::<Option<Token![;]>>()?.is_some() {
        return Ok(Item::File { name, attrs });
    }
    let content;
    syn::braced!(content in input);
    Ok(Item::Inline { name, attrs, content: content.parse()? })
}

fn quoted(attr: &Attribute) -> TokenStream {
    let mut tokens = TokenStream::new();
    quote::ToTokens::to_tokens(attr, &mut tokens);
    tokens
}

/// The tokens of an item, up to its `;` or `}`.
fn until_end(input: ParseStream<'_>) -> syn::Result<Vec<TokenTree>> {
    let mut tokens = Vec::new();
    while !input.is_empty() {
        let token: TokenTree = input.parse()?;
        let is_end = match &token {
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
            TokenTree::Punct(punct) => punct.as_char() == ';',
            _ => false,
        };
        tokens.push(token);
        if is_end {
            break;
        }
    }
    Ok(tokens)
}

/// `name!(…)`, `path::name! { … }` and `macro_rules! name { … }`: the last word of the path, or of
/// what is defined, and what is in the brackets.
fn macro_call(tokens: &[TokenTree]) -> Option<(Ident, TokenStream)> {
    let bang = tokens
        .iter()
        .position(|token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == '!'))?;
    let is_path = |token: &TokenTree| match token {
        TokenTree::Ident(_) => true,
        TokenTree::Punct(punct) => punct.as_char() == ':',
        _ => false,
    };
    let name = match (tokens.get(bang + 1)?, tokens.get(bang.checked_sub(1)?)?) {
        (TokenTree::Ident(defined), _) => defined.clone(),
        (_, TokenTree::Ident(name)) => name.clone(),
        _ => return None,
    };
    let group = tokens[bang..].iter().find_map(|token| match token {
        TokenTree::Group(group) => Some(group.stream()),
        _ => None,
    })?;
    tokens[..bang].iter().all(is_path).then_some((name, group))
}
