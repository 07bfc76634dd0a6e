//! What a step returns: a `Result`, spelled out or under another name.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::spanned::Spanned as _;
use syn::{GenericArgument, PathArguments, ReturnType, Signature, Type, TypeParamBound, TypePath};

use crate::errors::Errors;
use crate::flow::Output;
use crate::item::{StepItem, Words};
use crate::param_shape::is_bare;
use crate::pretty::pretty;
use crate::scalars::is_scalar;
use crate::{named, owned};

/// What a step outputs, and what it fails with if that is written.
pub(crate) fn output<'a>(
    item: &'a StepItem,
    errors: &mut Errors,
) -> Option<(Output<'a>, Option<&'a Type>)> {
    let (sig, what) = (&item.sig, item.what());
    let ReturnType::Type(_, ty) = &sig.output else {
        errors.at(
            &sig.ident,
            format!("{what} must return a `Result`\nhelp: add `-> {}`", item.words.returns),
        );
        return None;
    };
    if let Some((output, error)) = result_types(ty) {
        if is_same_path(ty, output) {
            errors.at(output, twice(&what, ty, output));
            return None;
        }
        let is_storable =
            named::check(&what, output, errors) && owned::check(&what, output, errors);
        return is_storable.then_some((Output::Spelled(output), error));
    }
    if is_future(sig) && sig.asyncness.is_none() {
        return None; // That it is not `async` is reported.
    }
    if may_be_result(ty) {
        return named::check(&what, ty, errors).then_some((Output::Behind(ty), None));
    }
    let help = if matches!(**ty, Type::Never(_)) {
        format!("write `-> {}`", item.words.returns)
    } else if is_bare_result(ty) {
        format!("write `{}`{}", item.words.returns, item.words.or_output)
    } else if let Some(output) = future_output(ty) {
        format!("write `-> {}`, and `.await` the future", pretty(output))
    } else if holds_result(ty.to_token_stream()) {
        // As an output it could not be stored.
        let Words { returns, or_output, .. } = item.words;
        format!("write `{returns}`{or_output}, and return errors with `?`")
    } else {
        item.words.wrapped.replace("{}", &pretty(ty))
    };
    errors.at(ty, format!("{what} must return a `Result`\nhelp: {help}"));
    None
}

/// Whether there is a `Result` in it.
fn holds_result(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => holds_result(group.stream()),
        other => matches!(other, TokenTree::Ident(word) if word == "Result"),
    })
}

/// Whether both are the same `Result`, as far as it is spelled.
fn is_same_path(one: &Type, other: &Type) -> bool {
    let (Type::Path(one), Type::Path(other)) = (one, other) else { return false };
    let names = |it: &TypePath| it.path.segments.iter().map(|it| it.ident.clone()).collect();
    let [one, other]: [Vec<_>; 2] = [names(one), names(other)];
    one == other
}

fn twice(what: &str, ty: &Type, output: &Type) -> String {
    format!(
        "{what} returns `{}`: an `Err` inside would count as completed\n\
         help: write `-> {}`, and return that error with `?`",
        pretty(ty),
        pretty(output),
    )
}

/// What a future outputs that is written as `impl Future<Output = …>`.
fn future_output(ty: &Type) -> Option<&Type> {
    let Type::ImplTrait(future) = ty else { return None };
    let traits = future.bounds.iter().filter_map(|bound| match bound {
        TypeParamBound::Trait(bound) => bound.path.segments.last(),
        _ => None,
    });
    let arguments = traits.filter_map(|last| match &last.arguments {
        PathArguments::AngleBracketed(args) => Some(&args.args),
        _ => None,
    });
    arguments.flatten().find_map(|arg| match arg {
        GenericArgument::AssocType(output) if output.ident == "Output" => Some(&output.ty),
        _ => None,
    })
}

/// Whether a function returns a future instead of being `async`.
pub(crate) fn is_future(sig: &Signature) -> bool {
    let text = sig.output.to_token_stream().to_string();
    ["Future", "Pin"].iter().any(|name| text.contains(name))
}

/// `Result` without what it holds.
pub fn is_bare_result(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.is_ident("Result"))
}

/// Whether this is a `Result` of `Waiting` without what is waited for.
pub fn is_bare_waiting(ty: &Type) -> bool {
    result_types(ty).is_some_and(|(output, _)| is_bare(output, "Waiting"))
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

/// Types that everybody knows not to be a `Result`.
const NO_RESULTS: [&str; 8] =
    ["str", "String", "Vec", "Option", "Box", "HashMap", "BTreeMap", "Waiting"];

/// Whether a type may be an alias of a `Result`: the compiler finds out.
fn may_be_result(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    let Some(last) = path.path.segments.last() else { return false };
    let name = last.ident.to_string();
    !is_bare_result(ty) && !is_scalar(&name) && !NO_RESULTS.contains(&&*name)
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
