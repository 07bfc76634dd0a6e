//! What the signature of any step or need must look like, whatever its parameters mean.

use syn::{Safety, Signature};

use crate::errors::Errors;
use crate::item::{StepItem, is_attr};
use crate::returned;

/// Checks everything but the parameters and the return type.
pub(crate) fn check(item: &StepItem, errors: &mut Errors) {
    let Signature { constness, asyncness, abi, fn_token, ident, generics, variadic, .. } =
        &item.sig;
    let what = item.what();
    if asyncness.is_none() {
        let more = if returned::is_future(&item.sig) {
            ", and return what the future outputs"
        } else {
            ""
        };
        errors
            .at(fn_token, format!("{what} must be `async`\nhelp: write `async fn {ident}`{more}"));
    }
    if !generics.params.is_empty() {
        errors.at(
            generics,
            format!("{what} cannot be generic: a worker calls it with one set of types"),
        );
    } else if let Some(clause) = &generics.where_clause {
        errors.at(clause, format!("{what} cannot have a `where` clause"));
    }
    if let Some(token) = constness {
        let message = format!("{what} cannot be `const`");
        match asyncness {
            // The compiler says so itself.
            Some(_) => errors.left_to_compiler(syn::Error::new_spanned(token, message)),
            None => errors.at(token, message),
        }
    }
    if let Safety::Unsafe(token) = &item.sig.safety {
        errors.at(token, format!("{what} cannot be `unsafe`: a worker calls it"));
    }
    if let Some(token) = abi {
        errors.at(token, format!("{what} cannot be `extern`"));
    }
    if let Some(token) = variadic {
        errors.at(token, format!("{what} cannot be variadic"));
    }
    check_attributes(item, errors);
}

fn check_attributes(item: &StepItem, errors: &mut Errors) {
    let (ident, what, marker) = (&item.sig.ident, item.what(), item.words.function);
    for attr in &item.attrs {
        if is_attr(attr, "cfg") {
            errors.at(attr, format!("{what} cannot depend on the build: {}", item.words.one_shape));
        } else if is_attr(attr, "test") {
            errors.at(
                attr,
                format!(
                    "{what} cannot be a test: a worker calls it\nhelp: call it in a test of its own"
                ),
            );
        } else if is_attr(attr, marker) {
            errors.at(attr, format!("`{ident}` is marked `#[{marker}]` more than once"));
        }
    }
}
