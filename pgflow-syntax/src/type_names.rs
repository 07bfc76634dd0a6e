//! Steps that have the name of a type. A step's own type would hide it.

use std::collections::HashMap;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::ext::IdentExt as _;
use syn::{FnArg, Ident, ReturnType};

use crate::errors::Errors;
use crate::flow::Step;
use crate::scalars::is_scalar;

/// Types that need no `use`, beside numbers and the like.
const KNOWN: [&str; 6] = ["str", "String", "Vec", "Option", "Result", "Box"];

/// Whether every program has a type of this name.
pub(crate) fn is_known(ident: &Ident) -> bool {
    let name = ident.unraw().to_string();
    is_scalar(&name) || KNOWN.contains(&&*name)
}

/// Whether every program has this type, whatever is between `<` and `>`.
pub(crate) fn is_known_type(ty: &syn::Type) -> bool {
    let syn::Type::Path(path) = ty else { return false };
    path.path.segments.last().is_some_and(|last| is_known(&last.ident))
}

/// Reports steps that have the name of a type in the flow's signatures, and returns whether any has.
pub(crate) fn report(steps: &[Step<'_>], errors: &mut Errors) -> bool {
    let names: HashMap<_, _> = steps.iter().map(|step| (step.name().to_string(), step)).collect();
    let mut used = Vec::new();
    for step in steps {
        for arg in &step.item.sig.inputs {
            if let FnArg::Typed(arg) = arg {
                look(arg.ty.to_token_stream(), &names, &mut used);
            }
        }
        if let ReturnType::Type(_, ty) = &step.item.sig.output {
            look(ty.to_token_stream(), &names, &mut used);
        }
    }
    used.sort_unstable();
    used.dedup();
    let clashes: Vec<_> = used.iter().filter_map(|name| names.get(name)).collect();
    let clashes: Vec<_> = clashes.into_iter().filter(|step| !is_known(step.name())).collect();
    for step in &clashes {
        let name = step.name();
        errors.at(
            name,
            format!(
                "a step cannot be called `{name}`: a signature in this flow names a type `{name}`\n\
                 help: choose another name, and set `slug = \"{name}\"` to keep it in the database"
            ),
        );
    }
    !clashes.is_empty()
}

/// Names in `tokens` that are not behind a `::`, and that a step has as well.
fn look(tokens: TokenStream, names: &HashMap<String, &Step<'_>>, used: &mut Vec<String>) {
    let mut is_inside = false;
    for token in tokens {
        match &token {
            TokenTree::Ident(word) if !is_inside => {
                let word = word.to_string();
                if names.contains_key(&word) {
                    used.push(word);
                }
            }
            TokenTree::Group(group) => look(group.stream(), names, used),
            _ => {}
        }
        is_inside = matches!(&token, TokenTree::Punct(mark) if mark.as_char() == ':');
    }
}
