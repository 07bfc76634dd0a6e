//! Where each parameter's value comes from. Parameters are matched by name.

use std::collections::HashMap;

use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::{FnArg, Ident, Pat, PatType, Type};

use crate::errors::Errors;
use crate::flow::{Dependency, Step};
use crate::names::Outline;
use crate::param_shape::{
    self, check_arguments, check_attributes, check_owned, check_stream, is_no_state,
    is_transaction, lent, no_state,
};
use crate::pretty::pretty;
use crate::{unknown_param, waits};

/// A parameter of a step.
pub struct Param<'a> {
    /// Its type.
    pub ty: &'a Type,
    /// Where its value comes from.
    pub source: Source,
}

/// Where a parameter's value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// `run`: the run's input.
    Run,
    /// `ctx`: the context.
    Context,
    /// Any name, of type `State<T>`: application state.
    State,
    /// `tx`: the transaction that records the step's completion.
    Transaction,
    /// `out`: the step's stream.
    Stream,
    /// `hook`: what it waits for.
    Hook,
    /// `item` of a root map: an element of the run's input.
    RunItem,
    /// `item` of a map: an element of the output of this step.
    OutputItem(usize),
    /// The output of this step.
    Output(usize),
    /// The output of this step, unless it was skipped.
    OptionalOutput(usize),
}

pub(crate) const RUN: &str = "run";
pub(crate) const CONTEXT: &str = "ctx";
pub(crate) const ITEM: &str = "item";
pub(crate) const TRANSACTION: &str = "tx";
pub(crate) const STREAM: &str = "out";
pub(crate) const HOOK: &str = "hook";

/// Whether a parameter of this name has a meaning of its own.
pub(crate) fn is_reserved(ident: &Ident) -> bool {
    [RUN, CONTEXT, ITEM, TRANSACTION].iter().any(|name| ident == name)
}

/// Finds the source of every parameter.
pub(crate) fn resolve<'a>(
    step: &Step<'a>,
    outline: &Outline<'_>,
    errors: &mut Errors,
) -> Vec<Param<'a>> {
    // With a wrong `depends_on` or `input`, which is reported, there is no telling what was meant.
    let is_clean = errors.is_empty() && step.is_sound && !outline.flow.has_wrong_input;
    let bindings: HashMap<_, _> =
        step.depends_on.iter().map(|dep| (dep.binding.as_str(), dep)).collect();
    let mut params = Vec::with_capacity(step.item.sig.inputs.len());
    for arg in &step.item.sig.inputs {
        let FnArg::Typed(arg) = arg else { continue }; // The compiler reports a `self` here.
        check_attributes(step.item, arg, errors);
        match param(step, arg, &bindings, outline) {
            Ok(param) if is_taken(&params, &param) && !is_repeated(step, arg) => {
                report_taken(step.name(), arg, errors);
            }
            Ok(param) => params.push(param),
            Err(Problem::Unknown(..)) if !is_clean => {}
            Err(Problem::Unknown(at, message)) => errors.at(at, message),
            Err(Problem::Shape(at, message)) => errors.at(at, message),
        }
    }
    if !outline.flow.has_wrong_input {
        check_item(step, &params, errors);
    }
    check_both(step, &params, errors);
    params
}

/// Why a parameter has no source.
enum Problem<'a> {
    /// Its name means nothing here.
    Unknown(&'a Ident, String),
    /// It cannot be a parameter of any step.
    Shape(proc_macro2::TokenStream, String),
}

fn param<'a>(
    step: &Step<'a>,
    arg: &'a PatType,
    bindings: &HashMap<&str, &Dependency>,
    outline: &Outline<'_>,
) -> Result<Param<'a>, Problem<'a>> {
    let (name, ty) = (step.name(), &*arg.ty);
    let Pat::Ident(pat) = &*arg.pat else {
        // Application state is known by its type, so it can be taken apart at once.
        return if is_state(ty) {
            let shape = check_arguments(step.item, "", ty);
            shape.map_err(|why| Problem::Shape(ty.to_token_stream(), why))?;
            Ok(Param { ty, source: Source::State })
        } else if is_no_state(arg) {
            Err(Problem::Shape(ty.to_token_stream(), no_state(step.item, ty)))
        } else {
            let message = format!("step `{name}` must name this parameter: it is matched by name");
            Err(Problem::Shape(arg.pat.to_token_stream(), message))
        };
    };
    let word = &*matched_name(&pat.ident);
    let is_bound = bindings.contains_key(word);
    if word == TRANSACTION && !is_bound {
        return match param_shape::check_transaction(step.item, ty) {
            Ok(()) => Ok(Param { ty, source: Source::Transaction }),
            Err(message) => Err(Problem::Shape(ty.to_token_stream(), message)),
        };
    }
    if is_transaction(ty) && !is_bound {
        return Err(Problem::Unknown(&pat.ident, param_shape::transaction_called(step.item, ty)));
    }
    if !is_bound {
        check_stream(step.item, word, ty)
            .and_then(|()| waits::check_hook(step.item, word, ty))
            .map_err(|why| Problem::Shape(ty.to_token_stream(), why))?;
        if let Some(why) = param_shape::called_otherwise(step.item, word, ty) {
            return Err(Problem::Unknown(&pat.ident, why));
        }
    }
    let unknown = |why| Problem::Unknown(&pat.ident, why);
    let source = source(step, word, ty, bindings.get(word).copied(), outline);
    // What is to be owned depends on what it is; that a type has no name does not.
    let is_known = source.is_ok() || is_state(lent(ty)) || matches!(ty, Type::ImplTrait(_));
    if !is_known && !is_bound && ![RUN, ITEM].contains(&word) {
        return Err(unknown(source.err().unwrap_or_default()));
    }
    let shape = check_owned(step.item, ty).and_then(|()| check_arguments(step.item, word, ty));
    shape.map_err(|why| Problem::Shape(ty.to_token_stream(), why))?;
    source.map(|source| Param { ty, source }).map_err(unknown)
}

fn source(
    step: &Step<'_>,
    word: &str,
    ty: &Type,
    bound: Option<&Dependency>,
    outline: &Outline<'_>,
) -> Result<Source, String> {
    let name = step.name();
    let has_input = outline.flow.input.is_some();
    match (word, bound, &step.map) {
        (CONTEXT, ..) => Ok(Source::Context),
        (_, Some(dep), None) if outline.presence[dep.step].may_be_missing => {
            Ok(Source::OptionalOutput(dep.step))
        }
        (_, Some(dep), None) => Ok(Source::Output(dep.step)),
        (_, Some(dep), Some(_)) if dep.is_renamed => Ok(Source::OutputItem(dep.step)),
        (_, Some(_), Some(_)) => Err(format!(
            "map step `{name}` takes one element of `{word}` at a time\n\
             help: call this parameter `{ITEM}`, or write `{word} as other_name` in `depends_on`"
        )),
        (RUN, None, _) if has_input => Ok(Source::Run),
        (RUN, None, _) => Err(no_input(name, &ty.to_token_stream())),
        (ITEM, None, None) => Err(format!(
            "only a map step takes an `{ITEM}`\n\
             help: write `#[step(map, …)]` to run `{name}` once per element"
        )),
        (ITEM, None, Some(_)) => match step.depends_on.first() {
            Some(dep) => Ok(Source::OutputItem(dep.step)),
            None if has_input => Ok(Source::RunItem),
            None => Err(no_input(name, &quote!(Vec<#ty>))),
        },
        (_, None, _) if is_state(ty) => Ok(Source::State),
        (STREAM, None, _) => Ok(Source::Stream),
        (HOOK, None, _) => Ok(Source::Hook),
        (_, None, _) => Err(unknown_param::message(step, word, ty, outline)),
    }
}

fn check_item(step: &Step<'_>, params: &[Param<'_>], errors: &mut Errors) {
    let takes_item =
        |param: &Param<'_>| matches!(param.source, Source::RunItem | Source::OutputItem(_));
    if step.map.is_some() && errors.is_empty() && !params.iter().any(takes_item) {
        let name = step.name();
        let mut written = step.item.sig.inputs.iter().zip(params);
        // The elements of a root map are those of the run's input.
        let is_whole =
            |param: &Param<'_>| param.source == Source::Run && step.depends_on.is_empty();
        let (place, help) = match written.find(|(_, param)| is_whole(param)) {
            Some((FnArg::Typed(run), _)) => (run.pat.to_token_stream(), "call this parameter"),
            _ => (name.to_token_stream(), "add a parameter called"),
        };
        errors.at(place, format!("map step `{name}` takes no element\nhelp: {help} `{ITEM}`"));
    }
}

/// What is sent is read at once, and what is done in a transaction is not.
fn check_both(step: &Step<'_>, params: &[Param<'_>], errors: &mut Errors) {
    let takes = |source| params.iter().find(|param| param.source == source);
    if let (Some(stream), Some(_)) = (takes(Source::Stream), takes(Source::Transaction)) {
        let message = format!(
            "step `{}` takes both `{STREAM}` and `{TRANSACTION}`: its stream would be ahead of its transaction\n\
             help: give one of them to a step of its own",
            step.name(),
        );
        errors.at(stream.ty, message);
    }
}

pub(crate) fn is_state(ty: &Type) -> bool {
    is_called(ty, "State")
}

/// Whether a type's path ends in `name`.
pub(crate) fn is_called(ty: &Type, name: &str) -> bool {
    matches!(ty, Type::Path(ty) if ty.path.segments.last().is_some_and(|last| last.ident == name))
}

/// The name that a parameter is matched by: one that the body does not use may start with `_`.
pub(crate) fn matched_name(ident: &Ident) -> String {
    ident.unraw().to_string().trim_start_matches('_').to_owned()
}

fn no_input(step: &Ident, ty: &impl ToTokens) -> String {
    format!(
        "this flow has no input for `{step}` to take\n\
         help: declare it on the module: `#[flow(input = {})]`",
        pretty(ty),
    )
}

/// A value can be taken once: a copy of it would be read from the database a second time.
fn is_taken(params: &[Param<'_>], new: &Param<'_>) -> bool {
    new.source != Source::State && params.iter().any(|param| param.source == new.source)
}

/// Whether two parameters have one name. The compiler says so, but `run` and `_run` are two to it.
fn is_repeated(step: &Step<'_>, arg: &PatType) -> bool {
    let name = pretty(&arg.pat);
    let is_same =
        |other: &&FnArg| matches!(other, FnArg::Typed(other) if pretty(&other.pat) == name);
    step.item.sig.inputs.iter().filter(is_same).count() > 1
}

fn report_taken(step: &Ident, arg: &PatType, errors: &mut Errors) {
    if let Pat::Ident(pat) = &*arg.pat {
        errors.at(&pat.ident, format!("step `{step}` takes this value already"));
    }
}
