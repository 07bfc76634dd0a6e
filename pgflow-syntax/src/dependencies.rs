//! `depends_on`: names become edges.

use std::collections::{HashMap, HashSet};

use quote::quote;
use syn::ext::IdentExt;
use syn::{Ident, Path};

use crate::args::{DependsOn, StepArgs};
use crate::errors::Errors;
use crate::flow::Dependency;
use crate::item::StepItem;
use crate::names::Outline;
use crate::own_items::OwnItems;
use crate::params;
use crate::pretty::pretty;

/// Resolves every name in `depends_on`.
pub(crate) fn resolve(
    item: &StepItem,
    args: &StepArgs,
    outline: &Outline<'_>,
    own: &OwnItems,
    errors: &mut Errors,
) -> Vec<Dependency> {
    let name = item.sig.ident.unraw().to_string();
    let mut found: Vec<Dependency> = Vec::with_capacity(args.depends_on.len());
    let mut seen = HashSet::new();
    for dep in &args.depends_on {
        let target = dep.step.unraw().to_string();
        if let Some(path) = &dep.path {
            report_path(path, &target, outline, errors);
            continue;
        }
        match outline.find(&target) {
            None if outline.is_unreadable(&target) => {}
            None => {
                let help = if own.has_function(&target) {
                    format!("mark the function `{target}` with `#[step]`")
                } else {
                    outline.did_you_mean(&target, &name)
                };
                let step = &dep.step;
                errors.at(step, format!("there is no step `{step}` in this flow\nhelp: {help}"));
            }
            Some(_) if target == name => {
                errors.at(&dep.step, format!("step `{name}` depends on itself"));
            }
            Some(at) if !seen.insert(at) => {
                errors.at(&dep.step, format!("step `{name}` already depends on `{target}`"));
            }
            Some(at) => found.push(dependency(dep, at)),
        }
    }
    check_bindings(args, &name, errors);
    if args.map.is_some() && found.len() > 1 {
        report_map(&name, &found, errors);
    }
    found
}

fn report_path(path: &Path, target: &str, outline: &Outline<'_>, errors: &mut Errors) {
    let help = outline.find(target).map_or(String::new(), |_| format!("\nhelp: write `{target}`"));
    let path_text = pretty(path);
    errors.at(
        path,
        format!("a step depends on steps of its own flow: `{path_text}` is a path{help}"),
    );
}

fn dependency(dep: &DependsOn, step: usize) -> Dependency {
    Dependency {
        ident: dep.step.clone(),
        binding: dep.alias.as_ref().unwrap_or(&dep.step).unraw().to_string(),
        is_renamed: dep.alias.is_some(),
        step,
    }
}

/// A name given with `as` must be free.
fn check_bindings(args: &StepArgs, step: &str, errors: &mut Errors) {
    let mut taken: HashMap<String, &Ident> = HashMap::new();
    for dep in &args.depends_on {
        let binding = dep.alias.as_ref().unwrap_or(&dep.step);
        if dep.alias.is_some() && params::is_reserved(binding) {
            errors.at(binding, format!(
                "a dependency cannot be called `{binding}`: parameters of that name have a meaning of their own"
            ));
        }
        let first = *taken.entry(binding.unraw().to_string()).or_insert(&dep.step);
        if first != &dep.step {
            errors.at(
                binding,
                format!("step `{step}` already has a dependency called `{binding}`: `{first}`"),
            );
        }
    }
}

fn report_map(name: &str, found: &[Dependency], errors: &mut Errors) {
    let idents = found.iter().map(|dep| &dep.ident);
    let names: Vec<_> = found.iter().map(|dep| format!("`{}`", dep.ident)).collect();
    errors.at(
        quote!(#(#idents),*),
        format!(
            "map step `{name}` can map over one step, not {}: {}\n\
             help: join them in a step of their own, and map over its output",
            names.len(),
            names.join(", "),
        ),
    );
}
