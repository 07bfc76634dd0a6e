//! How visible generated items are.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::Visibility;

/// Visibility, inside a module, of something as visible as the module.
pub(super) fn outside(module: &Visibility) -> TokenStream {
    match module {
        Visibility::Inherited => quote!(pub(super)),
        Visibility::Restricted(limit) if limit.path.is_ident("self") => quote!(pub(super)),
        Visibility::Restricted(limit) if limit.path.is_ident("super") => {
            quote!(pub(in super::super))
        }
        // `pub(in super::…)` counts from outside the module; one more `super` from inside.
        Visibility::Restricted(limit) if starts_with(&limit.path, "super") => {
            let path = &limit.path;
            quote!(pub(in super::#path))
        }
        other => other.to_token_stream(),
    }
}

/// Visibility of a step's type: no wider than its function's, nor than the module's.
pub(super) fn narrower(step: &Visibility, module: &Visibility) -> TokenStream {
    match (step, module) {
        (Visibility::Inherited, _) => TokenStream::new(),
        (Visibility::Restricted(_), Visibility::Public(_) | Visibility::Restricted(_)) => {
            step.to_token_stream()
        }
        (_, module) => outside(module),
    }
}

fn starts_with(path: &syn::Path, word: &str) -> bool {
    path.segments.first().is_some_and(|first| first.ident == word)
}
