//! Whether a condition can ever be met, and what it asks of types.

use proc_macro2::Span;

use crate::args::StepArgs;
use crate::errors::Errors;
use crate::flow::Dependency;
use crate::names::{Outline, listed};
use crate::pattern::ConditionArg;
use crate::pattern_part::{Extent, PathSegment, PatternPart, Wanted};
use crate::suggest::closest;

/// A value in a condition's pattern, to be compared with a type.
pub struct TypeCheck {
    /// The dependency whose output is tested, or `None` for the run's input.
    pub step: Option<usize>,
    /// Where the value is in what is tested.
    pub path: Vec<PathSegment>,
    /// What it is.
    pub wanted: Wanted,
    /// Where its place was written.
    pub span: Span,
    /// Where it was written.
    pub value: Extent,
}

/// Checks the conditions of a step, as far as that needs no types.
pub(crate) fn check(
    args: &StepArgs,
    step: &str,
    deps: &[Dependency],
    outline: &Outline<'_>,
    errors: &mut Errors,
) -> Vec<TypeCheck> {
    if let (Some((word, _)), false) = (&args.when_unmet, args.has_condition()) {
        errors.at(
            word,
            format!("step `{step}` has no condition that could be unmet\nhelp: add `only_if` or `unless`"),
        );
    }
    check_both(args, step, errors);
    let mut checks = Vec::new();
    for condition in [&args.only_if, &args.unless].into_iter().flatten() {
        if deps.is_empty() && args.depends_on.is_empty() {
            checks.extend(on_run_input(condition, args, step, outline, errors));
        } else {
            checks.extend(on_outputs(condition, step, deps, outline, errors));
        }
    }
    checks
}

/// Whatever meets `only_if` must not meet `unless` by that alone.
fn check_both(args: &StepArgs, step: &str, errors: &mut Errors) {
    let Some(unless) = &args.unless else { return };
    let wanted = args.only_if.as_ref().map(|only_if| only_if.pattern.to_json());
    if unless.pattern.fields().is_empty() {
        errors.at(&unless.name, format!("step `{step}` never runs: everything contains `{{}}`"));
    } else if wanted.is_some_and(|wanted| unless.pattern.is_in(&wanted)) {
        let message = format!("step `{step}` never runs: what meets `only_if` meets `unless` too");
        errors.at(&unless.name, message);
    }
}

fn on_run_input(
    condition: &ConditionArg,
    args: &StepArgs,
    step: &str,
    outline: &Outline<'_>,
    errors: &mut Errors,
) -> Vec<TypeCheck> {
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
    let span = name.span();
    let all = TypeCheck {
        step: None,
        path: Vec::new(),
        wanted: Wanted::Object,
        span,
        value: span.into(),
    };
    let parts = condition.parts.iter().map(|part| TypeCheck {
        step: None,
        path: part.path.clone(),
        wanted: part.wanted.clone(),
        span: part.span,
        value: part.value,
    });
    [all].into_iter().chain(parts).collect()
}

fn on_outputs(
    condition: &ConditionArg,
    step: &str,
    deps: &[Dependency],
    outline: &Outline<'_>,
    errors: &mut Errors,
) -> Vec<TypeCheck> {
    let mut checks = Vec::new();
    for part in &condition.parts {
        let Some((PathSegment::Field(slug), path)) = part.path.split_first() else { continue };
        let dep = deps.iter().find(|dep| outline.slugs[dep.step] == *slug);
        match dep {
            None if path.is_empty() && !outline.is_unreadable(slug) => {
                errors.push(part.span, not_a_dependency(slug, step, deps, outline));
            }
            None => {}
            Some(dep) if path.is_empty() && is_no_array(part, dep, outline) => {
                errors.at(part.value, not_an_array(dep));
            }
            Some(dep) => checks.push(TypeCheck {
                step: Some(dep.step),
                path: path.to_vec(),
                wanted: part.wanted.clone(),
                span: part.span,
                value: part.value,
            }),
        }
    }
    checks
}

/// A map step's output is an array, and contains nothing else.
fn is_no_array(part: &PatternPart, dep: &Dependency, outline: &Outline<'_>) -> bool {
    outline.is_map[dep.step] && part.wanted != Wanted::Array
}

fn not_an_array(dep: &Dependency) -> String {
    format!("`{0}` is a map step, so its output is an array\nhelp: write `\"{0}\": […]`", dep.ident)
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
