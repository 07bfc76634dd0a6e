//! Whether a condition can ever be met, and which fields it names.

use pgflow_model::Pattern;
use proc_macro2::Span;
use serde_json::Value;

use crate::args::StepArgs;
use crate::errors::Errors;
use crate::flow::Dependency;
use crate::names::{Outline, listed};
use crate::pattern::{ConditionArg, PatternKey};
use crate::suggest::closest;

/// A field that a condition names, to be looked for in a type.
pub struct FieldCheck {
    /// The dependency whose output has it, or `None` for the run's input.
    pub step: Option<usize>,
    /// Names from the outermost field to the innermost.
    pub path: Vec<String>,
    /// Where it was written.
    pub span: Span,
}

/// Checks the conditions of a step, as far as that needs no types.
pub(crate) fn check(
    args: &StepArgs,
    step: &str,
    deps: &[Dependency],
    outline: &Outline<'_>,
    errors: &mut Errors,
) -> Vec<FieldCheck> {
    if let (Some((word, _)), false) = (&args.when_unmet, args.has_condition()) {
        errors.at(
            word,
            format!("step `{step}` has no condition that could be unmet\nhelp: add `only_if` or `unless`"),
        );
    }
    let mut fields = Vec::new();
    for condition in [&args.only_if, &args.unless].into_iter().flatten() {
        if deps.is_empty() && args.depends_on.is_empty() {
            fields.extend(on_run_input(condition, args, step, outline, errors));
        } else {
            fields.extend(on_outputs(condition, step, deps, outline, errors));
        }
    }
    fields
}

fn on_run_input(
    condition: &ConditionArg,
    args: &StepArgs,
    step: &str,
    outline: &Outline<'_>,
    errors: &mut Errors,
) -> Vec<FieldCheck> {
    let name = &condition.name;
    if outline.flow.input.is_none() {
        errors.at(name, format!("this flow has no input that `{name}` could test"));
    } else if args.map.is_some() {
        errors.at(
            name,
            format!(
                "`{name}` tests the run's input, which is an array here: `{step}` maps over it\n\
                     help: put the condition on a step between them"
            ),
        );
    }
    let field =
        |key: &PatternKey| FieldCheck { step: None, path: key.path.clone(), span: key.span };
    condition.keys.iter().map(field).collect()
}

fn on_outputs(
    condition: &ConditionArg,
    step: &str,
    deps: &[Dependency],
    outline: &Outline<'_>,
    errors: &mut Errors,
) -> Vec<FieldCheck> {
    let mut fields = Vec::new();
    for key in &condition.keys {
        let Some((slug, path)) = key.path.split_first() else { continue };
        let dep = deps.iter().find(|dep| outline.slugs[dep.step] == *slug);
        match (dep, path) {
            (None, []) => errors.push(key.span, not_a_dependency(slug, step, deps, outline)),
            (None, _) => {}
            (Some(dep), []) => check_map(condition, key, dep, outline, errors),
            (Some(dep), _) if outline.is_map[dep.step] => {}
            (Some(dep), path) => fields.push(FieldCheck {
                step: Some(dep.step),
                path: path.to_vec(),
                span: key.span,
            }),
        }
    }
    fields
}

/// A map step's output is an array, and contains nothing else.
fn check_map(
    condition: &ConditionArg,
    key: &PatternKey,
    dep: &Dependency,
    outline: &Outline<'_>,
    errors: &mut Errors,
) {
    let wanted = key.path.first().and_then(|slug| field(&condition.pattern, slug));
    if outline.is_map[dep.step] && !wanted.is_some_and(Value::is_array) {
        errors.push(
            key.span,
            format!(
                "`{0}` is a map step, so its output is an array\nhelp: write `\"{0}\": […]`",
                dep.ident
            ),
        );
    }
}

fn field<'a>(pattern: &'a Pattern, name: &str) -> Option<&'a Value> {
    pattern.fields().get(name)
}

fn not_a_dependency(key: &str, step: &str, deps: &[Dependency], outline: &Outline<'_>) -> String {
    let slugs: Vec<_> = deps.iter().map(|dep| outline.slugs[dep.step].as_str()).collect();
    let renamed = deps.iter().find(|dep| dep.ident == key || dep.binding == key);
    let help = match (renamed, closest(key, slugs.iter().copied())) {
        (Some(dep), _) => format!("use its slug: `{:?}`", outline.slugs[dep.step]),
        (None, Some(near)) => format!("did you mean `{near:?}`?"),
        (None, None) => format!("the outputs it can test are {}", listed(&slugs)),
    };
    format!("{key:?} is not a dependency of step `{step}`\nhelp: {help}")
}
