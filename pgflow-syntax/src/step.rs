//! Second pass, one step.

use pgflow_model::check_step_slug;
use syn::Ident;
use syn::ext::IdentExt;

use crate::args::StepArgs;
use crate::errors::Errors;
use crate::flow::Step;
use crate::item::{StepItem, conditional_marker};
use crate::names::Outline;
use crate::own_items::OwnItems;
use crate::{condition, dependencies, params, signature};

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
    let (output, error) = signature::result(&item.sig, errors).unzip();
    let depends_on = dependencies::resolve(item, &args, outline, errors);
    let type_checks = condition::check(&args, &outline.names[at], &depends_on, outline, errors);
    let (when_unmet, when_exhausted) = (args.on_unmet(), args.on_exhausted());
    let mut step = Step {
        item,
        slug: outline.slugs[at].clone(),
        map: args.map,
        depends_on,
        params: Vec::new(),
        output,
        error: error.flatten(),
        result_span: signature::result_span(&item.sig),
        only_if: args.only_if,
        unless: args.unless,
        type_checks,
        when_unmet,
        when_exhausted,
        options: args.options,
        was: args.was,
        presence: outline.presence[at],
        is_leaf: true,
        is_sound: !item.takes_self(),
        is_duplicate: false,
    };
    step.params = params::resolve(&step, outline, errors);
    step
}

fn check_name(item: &StepItem, args: &StepArgs, own: &OwnItems, errors: &mut Errors) {
    let name = &item.sig.ident;
    let slug = name.unraw().to_string();
    if params::is_reserved(name) {
        errors.at(name, format!(
            "a step cannot be called `{name}`: parameters of that name have a meaning of their own"
        ));
    } else if is_type_name(name) {
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
    if let Some(other) = own.defined(&name.to_string()) {
        errors.at(
            other,
            format!("step `{name}` needs this name for its own type\nhelp: rename this item, or move it out of the module"),
        );
    }
}

/// Types that need no `use`. A step's own type would hide the one it shares its name with.
const TYPE_NAMES: [&str; 19] = [
    "bool", "char", "str", "f16", "f32", "f64", "f128", "i8", "i16", "i32", "i64", "i128", "isize",
    "u8", "u16", "u32", "u64", "u128", "usize",
];

/// Whether the language has a type of this name.
pub(crate) fn is_type_name(ident: &Ident) -> bool {
    TYPE_NAMES.iter().any(|name| ident.unraw() == name)
}

fn check_marker(item: &StepItem, errors: &mut Errors) {
    let name = &item.sig.ident;
    for attr in item.attrs.iter().filter(|attr| conditional_marker(attr).is_some()) {
        errors.at(
            attr,
            format!(
                "step `{name}` cannot depend on the build: a flow has one shape in the database"
            ),
        );
    }
}
