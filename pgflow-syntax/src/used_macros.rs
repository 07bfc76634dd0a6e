//! Which imported names are macros. Those may share their name with anything.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;

use crate::item::FlowItem;
use crate::owned::is_punct;

/// Whether the module uses this name as a macro: `name!`, `#[name]` or in `#[derive(name)]`.
pub(crate) fn is_macro(name: &str, item: &FlowItem) -> bool {
    // These of ours are taken away before the compiler sees them.
    ["data", "flow", "step"].contains(&name)
        || item.content.iter().any(|piece| is_used(name, piece.to_token_stream()))
}

fn is_used(name: &str, tokens: TokenStream) -> bool {
    let mut before = ' ';
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let is_used = match &token {
            TokenTree::Ident(word) => {
                word == name && tokens.peek().is_some_and(|next| is_punct(next, '!'))
            }
            TokenTree::Group(group) if before == '#' => has(name, group.stream()),
            TokenTree::Group(group) => is_used(name, group.stream()),
            _ => false,
        };
        if is_used {
            return true;
        }
        before = if let TokenTree::Punct(mark) = token { mark.as_char() } else { ' ' };
    }
    false
}

fn has(name: &str, tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(word) => word == name,
        TokenTree::Group(group) => has(name, group.stream()),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_macros_wherever_they_are_used() {
        let module = "mod m {
            #[derive(Copied)] struct A;
            #[attribute] fn a() { if x { called!() } plain(b != c) }
        }";
        let item: FlowItem = syn::parse_str(module).expect("a module");
        for name in ["Copied", "attribute", "called", "step"] {
            assert!(is_macro(name, &item), "{name}");
        }
        for name in ["A", "a", "plain", "c"] {
            assert!(!is_macro(name, &item), "{name}");
        }
    }
}
