//! What any step's signature must look like, whatever its parameters mean.

use proc_macro2::{Span, TokenTree};
use syn::spanned::Spanned;
use syn::{GenericArgument, PathArguments, ReturnType, Safety, Signature, Type};

use crate::errors::Errors;
use crate::item::{StepItem, is_attr};
use crate::pretty::pretty;
use crate::{named, owned};

/// Checks everything but the parameters and the return type.
pub(crate) fn check(item: &StepItem, errors: &mut Errors) {
    let Signature { constness, asyncness, abi, fn_token, ident, generics, variadic, .. } =
        &item.sig;
    if asyncness.is_none() {
        errors.at(
            fn_token,
            format!("step `{ident}` must be `async`\nhelp: write `async fn {ident}`"),
        );
    }
    if !generics.params.is_empty() {
        errors.at(
            generics,
            format!("step `{ident}` cannot be generic: a worker calls it with one set of types"),
        );
    }
    if let Some(clause) = &generics.where_clause {
        errors.at(clause, format!("step `{ident}` cannot have a `where` clause"));
    }
    if let Some(token) = constness {
        errors.at(token, format!("step `{ident}` cannot be `const`"));
    }
    if let Safety::Unsafe(token) = &item.sig.safety {
        errors.at(token, format!("step `{ident}` cannot be `unsafe`: a worker calls it"));
    }
    if let Some(token) = abi {
        errors.at(token, format!("step `{ident}` cannot be `extern`"));
    }
    if let Some(token) = variadic {
        errors.at(token, format!("step `{ident}` cannot be variadic"));
    }
    check_body_and_attributes(item, errors);
}

fn check_body_and_attributes(item: &StepItem, errors: &mut Errors) {
    let ident = &item.sig.ident;
    if !matches!(item.body.clone().into_iter().next(), Some(TokenTree::Group(_))) {
        errors.at(ident, format!("step `{ident}` has no body"));
    }
    for attr in &item.attrs {
        if is_attr(attr, "cfg") {
            errors.at(
                attr,
                format!("step `{ident}` cannot depend on the build: a flow has one shape in the database"),
            );
        } else if is_attr(attr, "step") {
            errors.at(attr, format!("`{ident}` is marked `#[step]` more than once"));
        }
    }
}

/// `T`, and `E` if it is written, of the `Result<T, E>` a step returns.
pub(crate) fn result<'a>(
    sig: &'a Signature,
    errors: &mut Errors,
) -> Option<(&'a Type, Option<&'a Type>)> {
    let name = &sig.ident;
    let ReturnType::Type(_, ty) = &sig.output else {
        errors.at(
            name,
            format!("step `{name}` must return a `Result`\nhelp: add `-> pgflow::Result<()>`"),
        );
        return None;
    };
    if let Some((output, error)) = result_types(ty) {
        let is_storable = named::check(name, output, errors) && owned::check(name, output, errors);
        return is_storable.then_some((output, error));
    }
    let help = if let Type::Path(path) = &**ty
        && path.path.is_ident("Result")
    {
        "write `Result<()>`, or the type it outputs between `<` and `>`".to_owned()
    } else {
        format!("write `-> pgflow::Result<{}>`, and wrap the value in `Ok(…)`", pretty(ty))
    };
    errors.at(
        ty,
        format!(
            "step `{name}` must return a `Result`, spelled out so that its output can be seen\n\
             help: {help}"
        ),
    );
    None
}

fn result_types(ty: &Type) -> Option<(&Type, Option<&Type>)> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == "Result")?;
    let PathArguments::AngleBracketed(args) = &last.arguments else { return None };
    let mut types = args.args.iter().filter_map(|arg| match arg {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    Some((types.next()?, types.next()))
}

/// Where the word `Result` is, in what a step returns.
pub(crate) fn result_span(sig: &Signature) -> Span {
    match &sig.output {
        ReturnType::Type(_, ty) => match &**ty {
            Type::Path(path) => {
                path.path.segments.last().map_or_else(|| ty.span(), |last| last.ident.span())
            }
            other => other.span(),
        },
        ReturnType::Default => sig.ident.span(),
    }
}
