//! How visible generated items are.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::Visibility;

fn outside(module: &Visibility) -> TokenStream {
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

/// Visibility, inside a module, of something as visible as the module.
pub(crate) struct Outside {
    pub(crate) tokens: TokenStream,
    reach: Option<Reach>,
}

impl Outside {
    pub(crate) fn of(module: &Visibility) -> Self {
        let tokens = outside(module);
        let reach = syn::parse2(tokens.clone()).ok().as_ref().and_then(reach);
        Self { tokens, reach }
    }

    /// Visibility of a step's type: no wider than its function's, nor than the module's.
    pub(crate) fn narrower(&self, step: &Visibility, module: &Ident) -> TokenStream {
        let (Some(own), Some(wide)) = (reach(step), self.reach) else { return TokenStream::new() };
        match own.is_within(wide) {
            Some(true) => step.to_token_stream(),
            Some(false) => self.tokens.clone(),
            None => common(step, module),
        }
    }
}

/// How far something can be seen, counted from inside the flow's module.
#[derive(Clone, Copy)]
enum Reach {
    /// Up to a module this many levels up.
    Up(usize),
    /// Up to a module this many levels below the crate's root.
    Below(usize),
    Everywhere,
}

impl Reach {
    /// Whether this reaches no further than `module`. How deep the flow's module lies is not known,
    /// so levels up and levels below the root can't always be compared.
    fn is_within(self, module: Self) -> Option<bool> {
        match (self, module) {
            // Nothing lies above the root, and a module is seen at least one level up from inside.
            (_, Self::Everywhere)
            | (Self::Up(_), Self::Below(0))
            | (Self::Up(0 | 1), Self::Below(_)) => Some(true),
            (Self::Everywhere, _) | (Self::Below(0), Self::Up(_)) => Some(false),
            (Self::Up(step), Self::Up(module)) => Some(step <= module),
            (Self::Below(step), Self::Below(module)) => Some(step >= module),
            (Self::Up(_), Self::Below(_)) | (Self::Below(_), Self::Up(_)) => None,
        }
    }
}

/// `None` for something private.
fn reach(vis: &Visibility) -> Option<Reach> {
    match vis {
        Visibility::Public(_) => Some(Reach::Everywhere),
        Visibility::Inherited => None,
        Visibility::Restricted(limit) => {
            let segments = &limit.path.segments;
            if starts_with(&limit.path, "crate") {
                return Some(Reach::Below(segments.len() - 1));
            }
            Some(Reach::Up(segments.iter().filter(|segment| segment.ident == "super").count()))
        }
    }
}

/// What both can be seen by, whichever is the wider: where the module is declared, unless the
/// step's path seems to end in the module itself.
fn common(step: &Visibility, name: &Ident) -> TokenStream {
    match step {
        Visibility::Restricted(limit) if ends_with(&limit.path, name) => TokenStream::new(),
        _ => quote!(pub(super)),
    }
}

fn starts_with(path: &syn::Path, word: &str) -> bool {
    path.segments.first().is_some_and(|first| first.ident == word)
}

fn ends_with(path: &syn::Path, name: &Ident) -> bool {
    path.segments.last().is_some_and(|last| last.ident == *name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::format_ident;

    #[test]
    fn a_step_is_no_more_visible_than_its_function_and_its_flow() {
        for (step, module, expected) in [
            ("", "pub", ""),
            ("pub", "pub", "pub"),
            ("pub", "", "pub(super)"),
            ("pub", "pub(super)", "pub(in super::super)"),
            ("pub", "pub(in super::super)", "pub(in super::super::super)"),
            ("pub", "pub(crate)", "pub(crate)"),
            ("pub(self)", "pub", "pub(self)"),
            ("pub(super)", "", "pub(super)"),
            ("pub(super)", "pub(crate)", "pub(super)"),
            ("pub(in super::super)", "", "pub(super)"),
            ("pub(in super::super)", "pub(super)", "pub(in super::super)"),
            ("pub(crate)", "pub", "pub(crate)"),
            ("pub(crate)", "", "pub(super)"),
            ("pub(crate)", "pub(super)", "pub(in super::super)"),
            ("pub(crate)", "pub(in crate::shop)", "pub(in crate::shop)"),
            ("pub(in crate::shop)", "pub(crate)", "pub(in crate::shop)"),
            ("pub(in crate::shop::till)", "pub(in crate::shop)", "pub(in crate::shop::till)"),
            ("pub(in super::super)", "pub(crate)", "pub(in super::super)"),
            ("pub(in crate::shop)", "pub(super)", "pub(super)"),
            ("pub(in crate::shop::billing)", "pub(super)", ""),
            ("pub(in super::super)", "pub(in crate::shop)", "pub(super)"),
        ] {
            let parse = |vis| syn::parse_str::<Visibility>(vis).expect("a visibility");
            let got = Outside::of(&parse(module)).narrower(&parse(step), &format_ident!("billing"));
            let expected = parse(expected).to_token_stream();
            assert_eq!(got.to_string(), expected.to_string(), "`{step}` in `{module}`");
        }
    }
}
