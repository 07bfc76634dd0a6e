//! What a parameter must look like, whatever its name means.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, GenericArgument, Lifetime, Pat, PatType, Path, PathArguments, Type};

use crate::errors::Errors;
use crate::item::{StepItem, is_attr};
use crate::owned::{has_reference, owned_type};
use crate::params::{CONTEXT, HOOK, STREAM, TRANSACTION, is_called, is_state};
use crate::pretty::pretty;
use crate::unknown_param::taken;
use crate::waits::argument;

/// A parameter that is there in some builds only would make another step of it.
pub(crate) fn check_attributes(item: &StepItem, arg: &PatType, errors: &mut Errors) {
    let is_conditional = |attr: &&Attribute| is_attr(attr, "cfg") || is_attr(attr, "cfg_attr");
    for attr in arg.attrs.iter().filter(is_conditional) {
        errors.at(
            attr,
            format!(
                "a parameter of {} cannot depend on the build: {}",
                item.what(),
                item.words.one_shape
            ),
        );
    }
}

/// What is lent, if it is.
pub(crate) fn lent(ty: &Type) -> &Type {
    if let Type::Reference(reference) = ty { &reference.elem } else { ty }
}

pub(crate) fn is_transaction(ty: &Type) -> bool {
    is_called(lent(ty), "Tx")
}

/// Whether this is `State` without what it holds.
pub fn is_bare_state(ty: &Type) -> bool {
    is_bare(ty, "State")
}

/// Whether a parameter is one of ours without what it holds.
pub fn is_bare_parameter(ty: &Type) -> bool {
    ["State", "Emit", "Hook"].iter().any(|name| is_bare(lent(ty), name))
}

/// Whether this is a name alone.
pub(crate) fn is_bare(ty: &Type, name: &str) -> bool {
    matches!(ty, Type::Path(path) if path.path.is_ident(name))
}

/// The first argument of a `State` that has several.
pub fn first_of_many_states(ty: &Type) -> Option<&GenericArgument> {
    let Type::Path(path) = ty else { return None };
    let PathArguments::AngleBracketed(arguments) = &path.path.segments.last()?.arguments else {
        return None;
    };
    arguments.args.first().filter(|_| is_called(ty, "State") && arguments.args.len() > 1)
}

/// Types that are like ours but for their arguments: the compiler would complain in several places.
pub(crate) fn check_arguments(item: &StepItem, word: &str, ty: &Type) -> Result<(), String> {
    if is_bare_state(ty) {
        return Err("application state has a type\nhelp: write `State<App>`, with yours".to_owned());
    }
    if let Some(first) = first_of_many_states(ty) {
        let first = pretty(first);
        return Err(format!("application state has one type\nhelp: write `State<{first}>`"));
    }
    let Type::Path(path) = ty else { return Ok(()) };
    let last = path.path.segments.last();
    if is_called(ty, "State") && last.is_some_and(|last| holds_rc(last.arguments.to_token_stream()))
    {
        return Err(format!(
            "{} takes `{}`, and an `Rc` cannot leave its thread\nhelp: hold it in an `Arc`",
            item.what(),
            pretty(ty)
        ));
    }
    if word == CONTEXT && last.is_some_and(|last| !last.arguments.is_none()) {
        return Err(format!(
            "{} takes `{}` as its `{CONTEXT}`\nhelp: take `pgflow::{}`",
            item.what(),
            pretty(ty),
            item.words.context,
        ));
    }
    Ok(())
}

/// Whether an `Rc` is among these tokens.
fn holds_rc(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(word) => word == "Rc",
        TokenTree::Group(group) => holds_rc(group.stream()),
        _ => false,
    })
}

/// A transaction is lent, so it is the one parameter that is borrowed.
pub(crate) fn check_transaction(item: &StepItem, ty: &Type) -> Result<(), String> {
    if let Type::Reference(reference) = ty
        && reference.mutability.is_some()
        && is_transaction(ty)
    {
        return Ok(());
    }
    Err(format!(
        "{} takes a database transaction, which is a `&mut Tx`\n\
         help: write `{TRANSACTION}: &mut Tx`",
        item.what(),
    ))
}

/// For a transaction that has another name.
pub(crate) fn transaction_called(item: &StepItem, ty: &Type) -> String {
    let what = item.what();
    if has(item, TRANSACTION) {
        return format!("{what} takes `{TRANSACTION}` already, and there is one transaction");
    }
    format!(
        "{what} takes a database transaction, which is called `{TRANSACTION}`\n\
         help: write `{TRANSACTION}: &mut {}`",
        pretty(lent(ty)),
    )
}

/// Whether a parameter has this name.
fn has(item: &StepItem, name: &str) -> bool {
    taken(item).iter().any(|taken| taken == name)
}

/// For a stream or a hook that has another name.
pub(crate) fn called_otherwise(item: &StepItem, word: &str, ty: &Type) -> Option<String> {
    let known = [("Emit", "stream", STREAM), ("Hook", "hook", HOOK)];
    let is_meant = |ty_name: &str, name: &str| is_called(lent(ty), ty_name) && word != name;
    let (_, thing, name) = known.into_iter().find(|(ty_name, _, name)| is_meant(ty_name, name))?;
    let (what, ty) = (item.what(), pretty(lent(ty)));
    if has(item, name) {
        return Some(format!("{what} takes `{name}` already, and there is one {thing}"));
    }
    Some(format!("{what} takes its {thing}, which is called `{name}`\nhelp: write `{name}: {ty}`"))
}

/// A stream is known by its name, as a type that says what its chunks are.
pub(crate) fn check_stream(item: &StepItem, word: &str, ty: &Type) -> Result<(), String> {
    let is_stream = is_called(lent(ty), "Emit");
    if is_bare(lent(ty), "Emit") {
        return Err("a stream has a type\nhelp: write `Emit<Chunk>`, with yours".to_owned());
    }
    if let Some(chunk) = argument(lent(ty)).filter(|it| is_stream && has_reference(it)) {
        let help = owned_type(chunk).map(|owned| format!("\nhelp: take `Emit<{owned}>`"));
        let message = "what is sent through a stream is kept, so it must own its data";
        return Err(message.to_owned() + &help.unwrap_or_default());
    }
    if word == STREAM && !is_stream && !is_state(ty) {
        return Err(format!(
            "{} takes `{}` as its `{STREAM}`, which is its stream\nhelp: write `{STREAM}: Emit<{}>`, or give it another name",
            item.what(),
            pretty(ty),
            pretty(chunk(lent(ty))),
        ));
    }
    Ok(())
}

/// What would be sent through this: a channel cannot be stored, and what goes through it may be.
fn chunk(ty: &Type) -> &Type {
    let channels = ["Sender", "SyncSender", "UnboundedSender"];
    let is_channel = channels.iter().any(|name| is_called(ty, name));
    argument(ty).filter(|_| is_channel).unwrap_or(ty)
}

/// Values come out of the database, so there is nothing to borrow from.
pub(crate) fn check_owned(item: &StepItem, ty: &Type) -> Result<(), String> {
    match ty {
        // That there are lifetimes is reported.
        Type::Reference(reference) if is_declared(item, reference.lifetime.as_ref()) => Ok(()),
        Type::Reference(_) => {
            let help = owned_type(ty).map(|owned| format!("\nhelp: take `{owned}`"));
            Err(format!("{} must own its parameters{}", item.what(), help.unwrap_or_default()))
        }
        Type::ImplTrait(_) => Err(format!("{} must name the type of its parameters", item.what())),
        _ => Ok(()),
    }
}

fn is_declared(item: &StepItem, lifetime: Option<&Lifetime>) -> bool {
    let mut declared = item.sig.generics.lifetimes();
    declared.any(|param| lifetime.is_some_and(|it| param.lifetime == *it))
}

/// Whether it takes apart a `State`, as `State(pool): Pool`, and is of another type.
pub fn is_no_state(arg: &PatType) -> bool {
    let names_state = |path: &Path| path.segments.last().is_some_and(|last| last.ident == "State");
    matches!(&*arg.pat, Pat::TupleStruct(pat) if names_state(&pat.path)) && !is_state(&arg.ty)
}

/// What to say of that, at the type.
pub(crate) fn no_state(item: &StepItem, ty: &Type) -> String {
    let ty = pretty(lent(ty));
    format!("{} takes apart a `State`, and this is `{ty}`\nhelp: write `State<{ty}>`", item.what())
}
