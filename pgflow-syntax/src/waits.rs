//! Steps that end later than their functions: those that return a `Waiting<T>`.

use syn::{GenericArgument, Ident, PathArguments, Type};

use crate::errors::Errors;
use crate::flow::{Output, Step};
use crate::item::StepItem;
use crate::owned::{has_reference, owned_type};
use crate::param_shape::lent;
use crate::params::{HOOK, Source, TRANSACTION, is_called, is_state};
use crate::pretty::pretty;

/// The name of the type that says so.
const WAITING: &str = "Waiting";
const TYPE: &str = "what is waited for has a type\nhelp: write `Waiting<Answer>`, with yours";

/// What a step returns.
pub(crate) struct Returned<'a> {
    /// What its task outputs: the `T` of `Waiting<T>`, if it waits.
    pub(crate) output: Option<Output<'a>>,
    /// The whole of `Waiting<T>`.
    pub(crate) waiting: Option<&'a Type>,
}

/// Looks for a `Waiting<T>` in what a step returns.
pub(crate) fn returned<'a>(
    item: &StepItem,
    output: Option<Output<'a>>,
    errors: &mut Errors,
) -> Returned<'a> {
    let Some(Output::Spelled(ty)) = output else { return Returned { output, waiting: None } };
    if is_called(ty, WAITING) {
        let Some(awaited) = argument(ty) else {
            errors.at(ty, TYPE);
            return Returned { output: None, waiting: Some(ty) };
        };
        return Returned { output: Some(Output::Spelled(awaited)), waiting: Some(ty) };
    }
    if let Some(held) = argument(ty).filter(|held| is_called(held, WAITING)) {
        errors.at(ty, held_wrongly(item, ty, held));
        return Returned { output: None, waiting: Some(held) };
    }
    Returned { output, waiting: None }
}

/// A task waits for one thing, once.
fn held_wrongly(item: &StepItem, ty: &Type, held: &Type) -> String {
    let name = match ty {
        Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
        _ => None,
    };
    let (name, awaited) = (name.unwrap_or_default(), argument(held).map(pretty));
    let awaited = awaited.unwrap_or_else(|| "Answer".to_owned());
    let awaited = if is_called(held, &name) { awaited } else { format!("{name}<{awaited}>") };
    let what = item.what();
    format!("{what} waits once, for all of its output\nhelp: write `Waiting<{awaited}>`")
}

/// The only type between `<` and `>`.
pub(crate) fn argument(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    let PathArguments::AngleBracketed(args) = &path.path.segments.last()?.arguments else {
        return None;
    };
    match args.args.first() {
        Some(GenericArgument::Type(only)) if args.args.len() == 1 => Some(only),
        _ => None,
    }
}

/// What goes through a stream that is spelled `Emit<T>`.
pub fn chunk_of(stream: &Type) -> Option<&Type> {
    argument(stream).filter(|_| is_called(stream, "Emit"))
}

/// A hook is known by its name, as a type that says what is sent to it.
pub(crate) fn check_hook(item: &StepItem, word: &str, ty: &Type) -> Result<(), String> {
    let (what, held) = (item.what(), lent(ty));
    let is_hook = is_called(held, "Hook");
    if is_hook && argument(held).is_none() {
        return Err("a hook has a type\nhelp: write `Hook<Answer>`, with yours".to_owned());
    }
    if let Some(answer) = argument(held).filter(|it| is_hook && has_reference(it)) {
        let instead = owned_type(answer).map(|owned| format!("\nhelp: take `Hook<{owned}>`"));
        let message = "what is sent to a hook is stored and read back, so it must own its data";
        return Err(message.to_owned() + &instead.unwrap_or_default());
    }
    if word == HOOK && !is_hook && !is_state(ty) {
        let (ty, held) = (pretty(ty), pretty(held));
        return Err(format!(
            "{what} takes `{ty}` as its `{HOOK}`, which is what it waits for\nhelp: write `{HOOK}: Hook<{held}>`, or give it another name",
        ));
    }
    Ok(())
}

/// What goes with waiting, and what does not.
pub(crate) fn check(step: &Step<'_>, timeout: Option<&Ident>, errors: &mut Errors) {
    let name = step.name();
    let find = |source| step.params.iter().find(|param| param.source == source);
    if let (Some(_), Some(tx)) = (step.waiting, find(Source::Transaction)) {
        errors.at(
            tx.ty,
            format!(
                "step `{name}` takes `{TRANSACTION}` and waits: a transaction cannot be open for so long\n\
                 help: give one of them to a step of its own"
            ),
        );
    }
    if step.waiting.is_some() || step.output.is_none() {
        return;
    }
    if let (Some(hook), Some(output)) = (find(Source::Hook), step.output) {
        let output = pretty(output.written());
        errors.at(
            hook.ty,
            format!(
                "step `{name}` takes a hook and does not wait\n\
                 help: return `Result<Waiting<{output}>>`, which `{HOOK}.wait()` makes"
            ),
        );
    }
    if let (Some(option), Some(output)) = (timeout, step.output) {
        let output = pretty(output.written());
        errors.at(
            option,
            format!(
                "step `{name}` does not wait, so it has no `{option}`\n\
                 help: return `Result<Waiting<{output}>>`, or set `timeout` for how long its function runs"
            ),
        );
    }
}
