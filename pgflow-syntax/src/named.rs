//! Outputs have types that can be written down a second time.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::Type;

use crate::errors::Errors;

/// Words that stand for a type that only the function itself knows.
const UNNAMED: [&str; 3] = ["impl", "_", "Self"];

/// Whether the output of a step has a name. What is generated for the step has to repeat it.
pub(crate) fn check(what: &str, output: &Type, errors: &mut Errors) -> bool {
    let is_named = has_name(output);
    let message = format!("{what} must name the type of its output");
    if !is_named && !has_word(output.to_token_stream(), &["impl"]) {
        // The compiler says so of `_`, `Self` and `!` itself.
        errors.left_to_compiler(syn::Error::new_spanned(output, message));
    } else if !is_named {
        errors.at(output, message);
    }
    is_named
}

/// Whether a type can be written down a second time.
pub fn has_name(ty: &Type) -> bool {
    !matches!(ty, Type::Never(_)) && !has_word(ty.to_token_stream(), &UNNAMED)
}

fn has_word(tokens: TokenStream, words: &[&str]) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => has_word(group.stream(), words),
        TokenTree::Ident(word) => words.iter().any(|it| word == it),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}
