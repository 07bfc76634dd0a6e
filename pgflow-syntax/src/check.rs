//! Second pass, the whole flow: names resolved, graph ordered, every problem reported.

use std::collections::HashMap;

use pgflow_model::{Cycle, check_flow_slug, topological_order};
use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, format_ident};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Ident, LitStr};

use crate::args::{FlowArgs, StepArgs};
use crate::errors::Errors;
use crate::flow::{Flow, Step};
use crate::item::{FLOW, FlowItem, Piece, Words, is_attr};
use crate::names::Outline;
use crate::own_items::OwnItems;
use crate::owned::is_punct;
use crate::{options, renamed, step, type_names};

/// Checks a flow and reports every problem found.
pub fn check<'a>(args: TokenStream, item: &'a FlowItem, errors: &mut Errors) -> Flow<'a> {
    let args = (|args: ParseStream<'_>| FlowArgs::read(args, errors)).parse2(args);
    let args = errors.keep(args).unwrap_or_default();
    let slug = flow_slug(&args, item, errors);
    report_broken(item, errors);
    report_marked_twice("flow", item, errors);

    let own = OwnItems::of(item);
    let mut steps = steps(item, &args, &own, errors);
    let order = order(&steps, errors);
    mark_leaves(&mut steps);
    renamed::check(&steps, errors);
    spread_cascades(&mut steps, &order);
    let is_step = |word: &str| steps.iter().any(|step| step.name() == word);
    let [type_name, output_name] =
        ["Flow", "Output"].map(|word| free_name(word, item, &own, is_step));
    let has_clash = report_imports(item, &own, &steps, errors) | type_names::report(&steps, errors);
    let (steps, order) = without_type_names(steps, order, has_clash);
    let schedule = args.schedule.check(args.input.as_ref().map(|(_, ty)| ty), errors);
    Flow {
        item,
        slug,
        slug_literal: args.slug,
        input: args.input,
        options: args.options,
        has_schema: !args.has_no_schema,
        crate_path: args.crate_path,
        version: args.version,
        format: args.format,
        schedule,
        type_name,
        output_name,
        steps,
        order,
    }
}

fn flow_slug(args: &FlowArgs, item: &FlowItem, errors: &mut Errors) -> String {
    if let Some(literal) = &args.slug {
        return literal.value();
    }
    let slug = item.ident.unraw().to_string();
    let version = options::version_like(&slug);
    if let Some(why) = check_flow_slug(&slug).err().map(|why| why.to_string()).or(version) {
        errors.at(
            &item.ident,
            format!("a flow cannot be called `{slug}`: {why}\nhelp: choose another name, or set `slug = \"…\"`"),
        );
    }
    slug
}

pub(crate) fn report_broken(item: &FlowItem, errors: &mut Errors) {
    for piece in &item.content {
        if let Piece::Broken(broken) = piece {
            let error = broken.error.clone();
            match broken.name {
                Some(_) => errors.left_to_compiler(error),
                None => drop(errors.keep(Err::<(), _>(error))),
            }
        }
    }
}

pub(crate) fn report_marked_twice(word: &str, item: &FlowItem, errors: &mut Errors) {
    for attr in item.attrs.iter().filter(|attr| is_attr(attr, word)) {
        let message = format!("`{}` is marked `#[{word}]` more than once", item.ident);
        errors.at(attr, message);
    }
}

fn steps<'a>(
    item: &'a FlowItem,
    args: &FlowArgs,
    own: &OwnItems,
    errors: &mut Errors,
) -> Vec<Step<'a>> {
    let items: Vec<_> = item.steps().collect();
    if items.is_empty() && !item.content.iter().any(|piece| matches!(piece, Piece::Broken(_))) {
        let is_said = item.content.iter().any(|piece| calls_macro(piece.to_token_stream()));
        report_empty(item, &FLOW, is_said, errors);
    }
    let mut found: Vec<_> = items.iter().map(|_| Errors::default()).collect();
    let read = items.iter().zip(&mut found);
    let read: Vec<_> = read.map(|(item, found)| StepArgs::read(&item.marker, found)).collect();
    let outline = Outline::new(args, item, &items, &read);

    let mut by_slug: HashMap<String, Named> = HashMap::with_capacity(items.len());
    let mut steps: Vec<Step<'a>> = Vec::with_capacity(items.len());
    for (at, ((item, args), mut found)) in items.into_iter().zip(read).zip(found).enumerate() {
        let named = Named { step: item.sig.ident.clone(), slug: args.slug.clone() };
        let mut step = step::check(at, item, args, &outline, own, &mut found);
        check_unique(&mut step, named, &mut by_slug, &mut found);
        step.is_sound &= found.is_empty();
        steps.push(step);
        errors.append(found);
    }
    steps
}

/// A step's name, and its slug if that was written.
struct Named {
    step: Ident,
    slug: Option<LitStr>,
}

fn check_unique(
    step: &mut Step<'_>,
    named: Named,
    by_slug: &mut HashMap<String, Named>,
    errors: &mut Errors,
) {
    match by_slug.get(&step.slug) {
        None => {
            by_slug.insert(step.slug.clone(), named);
        }
        // The compiler reports two functions of one name, and shows both of them.
        Some(first) if first.step == named.step => {
            (step.is_duplicate, step.is_sound) = (true, false);
        }
        // What is to be changed is the slug that was written.
        Some(first) if named.slug.is_none() => report_slug(first, &named, &step.slug, errors),
        Some(first) => report_slug(&named, first, &step.slug, errors),
    }
}

fn report_slug(wrong: &Named, other: &Named, slug: &str, errors: &mut Errors) {
    let Named { step, slug: literal } = wrong;
    let at = literal.as_ref().map_or_else(|| step.to_token_stream(), ToTokens::to_token_stream);
    errors.at(at, format!("step `{step}` has the slug of step `{}`: `{slug}`", other.step));
}

fn order(steps: &[Step<'_>], errors: &mut Errors) -> Vec<usize> {
    let edges: Vec<Vec<_>> =
        steps.iter().map(|step| step.depends_on.iter().map(|dep| dep.step).collect()).collect();
    let (order, cycles) = topological_order(&edges);
    for cycle in cycles {
        report_cycle(&cycle, steps, errors);
    }
    order
}

fn report_cycle(cycle: &Cycle, steps: &[Step<'_>], errors: &mut Errors) {
    let [first, second, ..] = cycle.path[..] else { return };
    let path: Vec<_> =
        cycle.path.iter().chain([&first]).map(|&at| format!("`{}`", steps[at].name())).collect();
    let arrow = steps[first].depends_on.iter().find(|dep| dep.step == second);
    errors.at(
        arrow.map(|dep| dep.ident.to_token_stream()),
        format!(
            "these steps wait for each other, so none of them can start\n\
             note: {} (each depends on the next)",
            path.join(" → "),
        ),
    );
}

fn mark_leaves(steps: &mut [Step<'_>]) {
    let inner: Vec<_> =
        steps.iter().flat_map(|step| step.depends_on.iter().map(|dep| dep.step)).collect();
    for at in inner {
        steps[at].is_leaf = false;
    }
}

/// A step after one that cascades is skipped with it.
fn spread_cascades(steps: &mut [Step<'_>], order: &[usize]) {
    for &at in order {
        let presence = steps[at]
            .depends_on
            .iter()
            .fold(steps[at].presence, |presence, dep| presence.after(steps[dep.step].presence));
        steps[at].presence = presence;
    }
}

/// Reports steps that have an imported name, and returns whether any has it or that of an item.
fn report_imports(
    item: &FlowItem,
    own: &OwnItems,
    steps: &[Step<'_>],
    errors: &mut Errors,
) -> bool {
    let names: Vec<_> = steps.iter().map(|step| step.name().to_string()).collect();
    let found = names.iter().filter_map(|name| Some((name, own.imported(name, item)?)));
    let found: Vec<_> = found.collect();
    for (name, import) in &found {
        errors.at(
            import,
            format!(
                "step `{name}` needs this name for its own type\n\
                 help: import it under another name, or write its whole path where it is used"
            ),
        );
    }
    !found.is_empty() || names.iter().any(|name| own.defined(name).is_some())
}

/// No steps at all if one has the name of a type: its own type would change what the others' types
/// mean, and the compiler would complain about steps that are right.
fn without_type_names(
    steps: Vec<Step<'_>>,
    order: Vec<usize>,
    has_clash: bool,
) -> (Vec<Step<'_>>, Vec<usize>) {
    if has_clash || steps.iter().any(|step| type_names::is_known(step.name())) {
        return (Vec::new(), Vec::new());
    }
    (steps, order)
}

/// `Flow`, or `BillingFlow` in a module `billing` that has a `Flow` of its own.
pub(crate) fn free_name(
    word: &str,
    item: &FlowItem,
    own: &OwnItems,
    is_taken: impl Fn(&str) -> bool,
) -> Ident {
    if !is_taken(word) && !own.has(word) {
        return format_ident!("{word}");
    }
    format_ident!("{}{word}", camel_case(&item.ident.unraw().to_string()))
}

fn camel_case(name: &str) -> String {
    let capital = |word: &str| {
        let mut letters = word.chars();
        let first = letters.next().map(|first| first.to_uppercase().collect::<String>());
        first.unwrap_or_default() + letters.as_str()
    };
    name.split('_').map(capital).collect()
}

/// Reports a module that has none of its functions. Of those that a macro writes, or that are marked as those of the other kind of
/// module, each says itself that it is in the wrong place.
pub(crate) fn report_empty(item: &FlowItem, words: &Words, is_said: bool, errors: &mut Errors) {
    let Words { module, function, .. } = words;
    let text = format!(
        "{module} `{}` has no {function}s\nhelp: mark its functions `#[{function}]`",
        item.ident
    );
    let error = syn::Error::new_spanned(&item.ident, text);
    if is_said || item.content.iter().any(|piece| is_marked(piece.to_token_stream())) {
        errors.left_to_compiler(error);
    } else {
        errors.keep::<()>(Err(error));
    }
}

/// Whether something among these items is marked `#[step]` or `#[need]`.
fn is_marked(tokens: TokenStream) -> bool {
    let tokens: Vec<_> = tokens.into_iter().collect();
    let is_word = |token: TokenTree| ["step", "need"].contains(&&*token.to_string());
    let is_mark = |two: &[TokenTree]| matches!(two, [mark, TokenTree::Group(group)] if is_punct(mark, '#') && group.stream().into_iter().next().is_some_and(is_word));
    tokens.windows(2).any(is_mark)
}

/// Whether a macro is called among these items, and not only inside one.
fn calls_macro(tokens: TokenStream) -> bool {
    let tokens: Vec<_> = tokens.into_iter().collect();
    let is_call = |three: &[TokenTree]| matches!(three, [TokenTree::Ident(_), mark, TokenTree::Group(_)] if is_punct(mark, '!'));
    tokens.windows(3).any(is_call)
}
