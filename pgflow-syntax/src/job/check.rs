//! Second pass: every need looked over, every problem reported.

use std::collections::HashMap;

use proc_macro2::TokenStream;
use quote::ToTokens as _;
use syn::ext::IdentExt as _;
use syn::parse::{ParseStream, Parser as _};

use super::args::{JobArgs, NeedArgs};
use super::params::{self, PAYLOAD};
use super::{JOB, Job, JobItem, Need};
use crate::check::{free_name, report_broken, report_empty, report_marked_twice};
use crate::errors::Errors;
use crate::flow::Output;
use crate::item::{FlowItem, Piece, StepItem};
use crate::own_items::{OwnItems, report_own};
use crate::params::{CONTEXT, TRANSACTION, is_called};
use crate::pretty::pretty;
use crate::step::check_marker;
use crate::{returned, signature, type_names};

/// Checks a kind of job and reports every problem found.
pub fn check<'a>(args: TokenStream, item: &'a JobItem, errors: &mut Errors) -> Job<'a> {
    let args = (|args: ParseStream<'_>| JobArgs::read(args, errors)).parse2(args);
    let args = errors.keep(args).unwrap_or_default();
    let item = &item.0;
    report_broken(item, errors);
    report_marked_twice("job", item, errors);
    let own = OwnItems::of(item);
    let module = item.ident.unraw().to_string();
    let name = args.name.as_ref().map_or(module, syn::LitStr::value);
    let mut needs = needs(item, &name, &own, errors);
    let is_need = |word: &str| needs.iter().any(|need| need.name() == word);
    let [type_name, next_name] = ["Job", "Next"].map(|word| free_name(word, item, &own, is_need));
    if report_own_next(&own, errors) {
        // What they return is not what it would be.
        for need in &mut needs {
            need.is_sound = false;
        }
    }
    Job { item, name, crate_path: args.crate_path, type_name, next_name, needs }
}

/// `Next` is the module's: it knows which needs there are.
fn report_own_next(own: &OwnItems, errors: &mut Errors) -> bool {
    let other = own.defined("Next");
    if let Some(other) = other {
        errors.at(other, "a job's module has a type `Next` of its own: what its needs return\nhelp: rename this item");
    }
    other.is_some()
}

fn needs<'a>(item: &'a FlowItem, job: &str, own: &OwnItems, errors: &mut Errors) -> Vec<Need<'a>> {
    let is_broken = item.content.iter().any(|piece| matches!(piece, Piece::Broken(_)));
    if item.steps().next().is_none() && !is_broken {
        report_empty(item, &JOB, false, errors);
    }
    let mut seen: HashMap<String, String> = HashMap::new();
    let mut needs = Vec::new();
    for item in item.steps() {
        let mut found = Errors::default();
        let mut need = need(item, job, own, &mut found);
        let name = need.name().to_string();
        // Two types of one name would be reported once more.
        need.is_duplicate = own.defined(&name).is_some();
        match seen.get(&need.capability) {
            // The compiler reports two functions of one name, and shows both of them.
            Some(first) if *first == name => need.is_duplicate = true,
            Some(first) => found.at(
                need.name(),
                format!(
                    "need `{name}` has the capability of need `{first}`: {:?}",
                    need.capability
                ),
            ),
            None => drop(seen.insert(need.capability.clone(), name)),
        }
        need.is_sound &= found.is_empty() && !need.is_duplicate;
        errors.append(found);
        needs.push(need);
    }
    needs
}

fn need<'a>(item: &'a StepItem, job: &str, own: &OwnItems, errors: &mut Errors) -> Need<'a> {
    let args = NeedArgs::read(&item.marker, errors);
    check_name(item, own, errors);
    check_marker(item, errors);
    signature::check(item, errors);
    // A generic payload cannot be repeated outside its function.
    let external = args.external;
    check_body(item, external.is_some(), errors);
    let is_generic = !item.sig.generics.params.is_empty();
    let returned = if is_generic { None } else { returned::output(item, errors) };
    let (output, error) = returned.unzip();
    check_next(item, output, errors);
    let named = args.capability.map(|literal| literal.value());
    Need {
        item,
        capability: named.unwrap_or_else(|| format!("{job}.{}", item.sig.ident.unraw())),
        external,
        options: args.options,
        permits: args.permits,
        params: if is_generic { Vec::new() } else { params::resolve(item, errors) },
        output,
        error: error.flatten(),
        result_span: returned::result_span(&item.sig),
        is_sound: !item.takes_self() && output.is_some(),
        is_duplicate: false,
    }
}

fn check_name(item: &StepItem, own: &OwnItems, errors: &mut Errors) {
    let name = &item.sig.ident;
    let text = name.unraw().to_string();
    if [PAYLOAD, CONTEXT, TRANSACTION].contains(&&*text) {
        errors.at(name, format!(
            "a need cannot be called `{text}`: parameters of that name have a meaning of their own"
        ));
    } else if type_names::is_known(name) {
        errors.at(name, format!("a need cannot be called `{text}`: it is the name of a type"));
    }
    report_own(own, name, "need", errors);
}

/// A need that nobody here handles has no body, and every other has one.
fn check_body(item: &StepItem, is_external: bool, errors: &mut Errors) {
    let (name, what) = (&item.sig.ident, item.what());
    match (item.has_body(), is_external) {
        (true, true) => errors.at(
            name,
            format!("{what} is `external`, and has a body\nhelp: end it with `;`, or take `external` away to handle it here"),
        ),
        (false, false) => errors.at(
            name,
            format!("{what} has no body\nhelp: if another program handles it, say so: `#[need(external)]`"),
        ),
        (true, false) | (false, true) => {}
    }
}

/// What is returned is a `Next`, as far as its spelling tells; the compiler sees through aliases.
fn check_next(item: &StepItem, output: Option<Output<'_>>, errors: &mut Errors) {
    let Some(Output::Spelled(ty)) = output else { return };
    let is_plain =
        ty.to_token_stream().to_string().chars().next().is_none_or(|first| !first.is_alphabetic());
    if is_plain || (type_names::is_known_type(ty) && !is_called(ty, "Next")) {
        errors.at(
            ty,
            format!(
                "{} returns `{}`, and a need says what comes next\n\
                 help: return `pgflow::Result<Next>`, and end with `Ok(Next::done(…))`",
                item.what(),
                pretty(ty),
            ),
        );
    }
}
