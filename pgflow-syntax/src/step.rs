//! Second pass, one step.

use pgflow_model::check_step_slug;
use syn::ext::IdentExt;

use crate::args::StepArgs;
use crate::errors::Errors;
use crate::flow::Step;
use crate::item::{StepItem, conditional_marker, is_misspelt_marker};
use crate::names::Outline;
use crate::own_items::{OwnItems, report_own};
use crate::pretty::pretty;
use crate::{condition, dependencies, params, returned, signature, type_names, waits};

/// Checks the step at `at` and reports every problem found.
pub(crate) fn check<'a>(
    at: usize,
    item: &'a StepItem,
    args: StepArgs,
    outline: &Outline<'_>,
    own: &OwnItems,
    errors: &mut Errors,
) -> Step<'a> {
    check_name(item, &args, own, errors);
    check_marker(item, errors);
    signature::check(item, errors);
    check_body(item, errors);
    // A generic output cannot be repeated outside its function.
    let is_generic = !item.sig.generics.params.is_empty();
    let returned = if is_generic { None } else { returned::output(item, errors) };
    let (output, error) = returned.unzip();
    let waits::Returned { output, waiting } = waits::returned(item, output, errors);
    let depends_on = dependencies::resolve(item, &args, outline, own, errors);
    let is_whole = depends_on.len() == args.depends_on.len();
    let type_checks = condition::check(&args, &outline.names[at], &depends_on, outline, errors);
    let (when_unmet, when_exhausted) = (args.on_unmet(), args.on_exhausted());
    let mut step = Step {
        item,
        slug: outline.slugs[at].clone(),
        map: args.map,
        depends_on,
        params: Vec::new(),
        output,
        waiting,
        error: error.flatten(),
        result_span: returned::result_span(&item.sig),
        only_if: args.only_if,
        unless: args.unless,
        type_checks,
        when_unmet,
        when_exhausted,
        options: args.options,
        was: args.was,
        permits: args.permits,
        presence: outline.presence[at],
        is_leaf: true,
        is_sound: !item.takes_self() && output.is_some() && is_whole,
        is_duplicate: false,
    };
    step.params = params::resolve(&step, outline, errors);
    waits::check(&step, args.wait_timeout.as_ref(), errors);
    // One without a source is not always an error of its own.
    step.is_sound &= step.params.len() == item.sig.inputs.len();
    step
}

fn check_name(item: &StepItem, args: &StepArgs, own: &OwnItems, errors: &mut Errors) {
    let name = &item.sig.ident;
    let slug = name.unraw().to_string();
    if params::is_reserved(name) {
        errors.at(name, format!(
            "a step cannot be called `{name}`: parameters of that name have a meaning of their own"
        ));
    } else if type_names::is_known(name) {
        let keep = format!(", and set `slug = \"{slug}\"` to keep it in the database");
        let keep = if args.slug.is_some() { "" } else { &*keep };
        errors.at(name, format!(
            "a step cannot be called `{slug}`: it is the name of a type\nhelp: choose another name{keep}"
        ));
    } else if let (Err(why), None) = (check_step_slug(&slug), &args.slug) {
        errors.at(name, format!(
            "a step cannot be called `{slug}`: {why}\nhelp: choose another name, or set `slug = \"…\"`"
        ));
    }
    report_own(own, name, "step", errors);
}

fn check_body(item: &StepItem, errors: &mut Errors) {
    if !item.has_body() {
        errors.at(&item.sig.ident, format!("{} has no body", item.what()));
    }
}

/// What is wrong with the attribute that makes it a step or need.
pub(crate) fn check_marker(item: &StepItem, errors: &mut Errors) {
    if is_misspelt_marker(&item.marker, item.words) {
        let path = item.marker.path();
        errors.at(
            path,
            format!(
                "there is no attribute `{}`\nhelp: did you mean `{}`?",
                pretty(path),
                item.words.function
            ),
        );
    }
    for attr in item.attrs.iter().filter(|attr| conditional_marker(attr, item.words).is_some()) {
        errors.at(
            attr,
            format!("{} cannot depend on the build: {}", item.what(), item.words.one_shape),
        );
    }
}
