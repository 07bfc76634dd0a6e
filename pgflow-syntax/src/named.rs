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
    if matches!(output, Type::Infer(_) | Type::Never(_)) {
        // The compiler says so of `_` and `!` itself.
        errors.left_to_compiler(syn::Error::new_spanned(output, message));
    } else if !is_named {
        errors.at(output, message);
    }
    is_named
}

/// Whether a type can be written down a second time.
pub fn has_name(ty: &Type) -> bool {
    !matches!(ty, Type::Never(_)) && !has_unnamed(ty.to_token_stream())
}

fn has_unnamed(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => has_unnamed(group.stream()),
        TokenTree::Ident(word) => UNNAMED.iter().any(|unnamed| word == unnamed),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}
