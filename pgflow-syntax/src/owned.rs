//! Outputs own their data, as far as their spelling shows it.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::Type;

use crate::errors::Errors;
use crate::pretty::pretty;

/// Whether the output of a step owns its data. The compiler would say so in serde's words.
pub(crate) fn check(what: &str, output: &Type, errors: &mut Errors) -> bool {
    let tokens = output.to_token_stream();
    if !borrows(tokens.clone()) {
        return true;
    }
    let help = match owned(tokens) {
        Some(owned) if !borrows(owned.clone()) => format!("\nhelp: output `{}`", pretty(owned)),
        // Only the compiler knows, and it would answer in riddles.
        Some(_) => "\nhelp: if it owns its data all the same, as a `Cow` does that was read back, output an \
             alias: `type Owned = …;`"
            .to_owned(),
        None => String::new(),
    };
    errors.at(
        output,
        format!(
            "{what} outputs `{}`, which borrows: an output is stored and read back, so it \
             must own its data{help}",
            pretty(output),
        ),
    );
    false
}

/// What a type would be that owns its data, if that is clear.
pub(crate) fn owned_type(ty: &Type) -> Option<String> {
    owned(ty.to_token_stream()).filter(|owned| !borrows(owned.clone())).map(pretty)
}

/// Whether there is a `&` in a type.
pub(crate) fn has_reference(ty: &Type) -> bool {
    !matches!(ty, Type::FnPtr(_)) && holds_reference(ty.to_token_stream())
}

fn holds_reference(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => holds_reference(group.stream()),
        other => is_punct(&other, '&'),
    })
}

/// Whether there is a `&` or a lifetime. A `Cow` is read back as an owned one, whatever its lifetime.
fn borrows(tokens: TokenStream) -> bool {
    let mut before = [const { String::new() }; 2];
    for token in tokens {
        let is_borrow = match &token {
            TokenTree::Group(group) => borrows(group.stream()),
            TokenTree::Punct(mark) if mark.as_char() == '\'' => before != ["Cow", "<"],
            other => is_punct(other, '&'),
        };
        if is_borrow {
            return true;
        }
        let [_, last] = before;
        before = [last, token.to_string()];
    }
    false
}

/// The type with `String` for `&str`, `Vec<T>` for `&[T]` and `T` for `&T`.
fn owned(tokens: TokenStream) -> Option<TokenStream> {
    let (mut tokens, mut owned) = (tokens.into_iter().peekable(), TokenStream::new());
    while let Some(token) = tokens.next() {
        if !is_punct(&token, '&') {
            owned.extend([inside(token)?]);
            continue;
        }
        while let Some(mark) = tokens.next_if(is_of_reference) {
            if is_punct(&mark, '\'') {
                tokens.next();
            }
        }
        owned.extend(pointee(tokens.next()?)?);
    }
    Some(owned)
}

/// What to own instead of a reference to something that starts with `token`.
fn pointee(token: TokenTree) -> Option<TokenStream> {
    match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
            let item = owned(group.stream())?;
            let is_array = group.stream().into_iter().any(|token| is_punct(&token, ';'));
            Some(if is_array { quote!([#item]) } else { quote!(Vec<#item>) })
        }
        token if is_word(&token, "str") => Some(quote!(String)),
        token if is_word(&token, "dyn") || is_word(&token, "impl") => None,
        token => inside(token).map(TokenTree::into_token_stream),
    }
}

/// What may come between a `&` and the type: another one, a lifetime, `mut`.
fn is_of_reference(token: &TokenTree) -> bool {
    is_punct(token, '&') || is_punct(token, '\'') || is_word(token, "mut")
}

fn inside(token: TokenTree) -> Option<TokenTree> {
    let TokenTree::Group(group) = token else { return Some(token) };
    Some(Group::new(group.delimiter(), owned(group.stream())?).into())
}

/// Whether a token is this mark.
pub(crate) fn is_punct(token: &TokenTree, mark: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == mark)
}

fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn help(ty: &str) -> Option<String> {
        let owned = owned(ty.parse().expect("tokens"))?;
        (!borrows(owned.clone())).then(|| pretty(owned))
    }

    #[test]
    fn a_reference_or_a_lifetime_borrows() {
        for ty in ["&'static str", "Vec<&'static str>", "(u8, &u8)", "Page<'static>", "[&'a u8; 2]"]
        {
            assert!(borrows(ty.parse().expect("tokens")), "{ty}");
        }
        for ty in ["String", "Cow<'static, str>", "std::borrow::Cow<'static, [u8]>", "[u8; 2]"] {
            assert!(!borrows(ty.parse().expect("tokens")), "{ty}");
        }
        assert!(borrows("Cow<'static, [Page<'static>]>".parse().expect("tokens")));
    }

    #[test]
    fn suggests_what_to_own_where_that_is_clear() {
        for (ty, owned) in [
            ("&'static str", Some("String")),
            ("&'static [u8]", Some("Vec<u8>")),
            ("&'static [u8; 4]", Some("[u8; 4]")),
            ("&'static Page", Some("Page")),
            ("Vec<(u8, &'static str)>", Some("Vec<(u8, String)>")),
            ("&'static [&'static str]", Some("Vec<String>")),
            ("&&'static mut &str", Some("String")),
            ("&'static dyn Any", None),
            ("&impl Clone", None),
            ("Page<'static>", None),
        ] {
            assert_eq!(help(ty).as_deref(), owned, "{ty}");
        }
    }
}
