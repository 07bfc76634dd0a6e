//! What to say about a parameter whose name means nothing: what was it meant to be?

use syn::ext::IdentExt;
use syn::{FnArg, GenericArgument, Pat, PathArguments, Type};

use crate::flow::{Dependency, Step};
use crate::item::StepItem;
use crate::names::{Outline, listed};
use crate::param_shape::lent;
use crate::params::{CONTEXT, ITEM, RUN, TRANSACTION, is_called, matched_name};
use crate::pretty::pretty;
use crate::scalars::is_scalar;
use crate::suggest::closest;

pub(crate) fn message(step: &Step<'_>, word: &str, ty: &Type, outline: &Outline<'_>) -> String {
    let unknown = Unknown { step, word, ty, outline, taken: taken(step.item) };
    let name = step.name();
    if let Some(dep) = step.depends_on.iter().find(|dep| dep.is_renamed && dep.ident == word) {
        return format!(
            "step `{name}` takes `{word}` as `{}`\nhelp: {}",
            dep.binding,
            unknown.renamed(dep)
        );
    }
    let help = unknown
        .by_word()
        .or_else(|| unknown.by_type())
        .or_else(|| unknown.by_dependency())
        .or_else(|| unknown.by_input())
        .unwrap_or_else(|| unknown.all());
    format!("step `{name}` does not depend on `{word}`{help}")
}

/// The names of all parameters of a step or need.
pub(crate) fn taken(item: &StepItem) -> Vec<String> {
    let names = item.sig.inputs.iter().filter_map(|arg| match arg {
        FnArg::Typed(arg) => match &*arg.pat {
            Pat::Ident(pat) => Some(matched_name(&pat.ident)),
            _ => None,
        },
        FnArg::Receiver(_) => None,
    });
    names.collect()
}

/// What the number of an element may be called, beside that element.
const NUMBERS: &[&str] = &["index", "idx", "i", "position", "number"];

struct Unknown<'a> {
    step: &'a Step<'a>,
    word: &'a str,
    ty: &'a Type,
    outline: &'a Outline<'a>,
    taken: Vec<String>,
}

impl Unknown<'_> {
    /// The dependency is there, under another name.
    fn renamed(&self, dep: &Dependency) -> String {
        let (name, word) = (self.name_of(dep), self.word);
        if self.is_untaken(dep) {
            format!("call this parameter `{name}`, or write `depends_on = [{word}]`")
        } else {
            format!("leave this parameter away: `{name}` is the same value")
        }
    }

    /// The name tells.
    fn by_word(&self) -> Option<String> {
        let Self { step, word, outline, .. } = self;
        if let Some(at) = outline.find(word).filter(|_| step.name().unraw() != word) {
            return Some(self.add(at));
        }
        let free = self.known().into_iter().filter(|name| self.is_free(name));
        if let Some(near) = closest(word, free) {
            return Some(format!("\nhelp: did you mean `{near}`?"));
        }
        if !self.is_free(ITEM) && NUMBERS.contains(word) && self.is_free(CONTEXT) {
            let call = "the number of an element is `ctx.index()`";
            return Some(format!("\nhelp: {call}: take `{CONTEXT}: Context`"));
        }
        (*word == "input" && self.is_free(RUN)).then(|| self.run())
    }

    /// A step that could be added to `depends_on`, unless that would make a circle or a second
    /// dependency of a map.
    fn add(&self, at: usize) -> String {
        let Self { step, word, outline, .. } = self;
        if step.map.is_some() {
            return format!(
                ": a map step takes elements of one sequence\n\
                 help: join `{word}` with them in a step of its own, and map over its output"
            );
        }
        if outline.leads_to(at, &step.name().unraw().to_string()) {
            return format!(", and cannot: `{word}` waits for `{}`", step.name());
        }
        let before = self.list(None);
        let comma = if before.is_empty() { "" } else { ", " };
        format!("\nhelp: add it: `depends_on = [{before}{comma}{word}]`")
    }

    /// The dependencies as they are written, one of them perhaps under another name.
    fn list(&self, renamed: Option<(&Dependency, &str)>) -> String {
        let written = |dep: &Dependency| match renamed.filter(|(it, _)| it.step == dep.step) {
            Some((_, name)) => format!("{} as {name}", dep.ident),
            None if dep.is_renamed => format!("{} as {}", dep.ident, dep.binding),
            None => dep.ident.to_string(),
        };
        self.step.depends_on.iter().map(written).collect::<Vec<_>>().join(", ")
    }

    /// The type tells: a context, the run's input, or something that no step outputs.
    fn by_type(&self) -> Option<String> {
        let ty = lent(self.ty);
        if is_connection(self.ty) && self.is_free(TRANSACTION) {
            return Some(format!(
                "\nhelp: the transaction that records the completion of `{}` is called `{TRANSACTION}`: take `{TRANSACTION}: &mut Tx`",
                self.step.name(),
            ));
        }
        if is_context(ty) && self.is_free(CONTEXT) {
            return Some(format!("\nhelp: the context is called `{CONTEXT}`"));
        }
        if let Some(state) = held_state(ty) {
            return Some(format!("\nhelp: application state is always there: take `{state}`"));
        }
        if !is_own(ty) || self.is_given() {
            return None;
        }
        Some(format!("\nhelp: application state is taken as `State<{}>`", held_as_state(ty)))
    }

    /// Whether the type is spelled like something that the step can take.
    fn is_given(&self) -> bool {
        let (flow, ty) = (self.outline.flow, pretty(lent(self.ty)));
        let input = flow.input.as_ref().map(|(_, input)| pretty(input));
        let returned =
            self.step.depends_on.iter().map(|dep| pretty(self.outline.returns[dep.step]));
        let is_like = |given: &str| given == ty || given.contains(&format!("<{ty}>"));
        input.as_deref().is_some_and(is_like) || returned.into_iter().any(|given| is_like(&given))
    }

    /// A dependency, or its element, that no parameter takes yet.
    fn by_dependency(&self) -> Option<String> {
        let (word, is_map) = (self.word, self.step.map.is_some());
        let untaken: Vec<_> =
            self.step.depends_on.iter().filter(|dep| self.is_untaken(dep)).collect();
        match untaken[..] {
            [only] => {
                let (name, all) = (self.name_of(only), self.list(Some((only, word))));
                Some(format!("\nhelp: call it `{name}`, or write `depends_on = [{all}]`"))
            }
            [] if is_map && self.step.depends_on.is_empty() && self.is_free(ITEM) => {
                Some(format!("\nhelp: one element of the run's input is called `{ITEM}`"))
            }
            _ => None,
        }
    }

    /// The run's input, if that is all there is, or if the type is spelled like it. A map takes an element of it.
    fn by_input(&self) -> Option<String> {
        let (_, input) = self.outline.flow.input.as_ref()?;
        let is_all = self.step.depends_on.is_empty() && self.step.map.is_none();
        let is_likely = is_all || pretty(input) == pretty(self.ty);
        (is_likely && self.is_free(RUN)).then(|| self.run())
    }

    fn run(&self) -> String {
        let help = format!("\nhelp: the run's input is called `{RUN}`");
        match &self.outline.flow.input {
            Some(_) => help,
            None => format!("{help}, and declared by `#[flow(input = {})]`", pretty(self.ty)),
        }
    }

    fn all(&self) -> String {
        format!("\nhelp: a parameter of `{}` is one of {}", self.step.name(), listed(&self.known()))
    }

    /// Every name that means something in this step.
    fn known(&self) -> Vec<&str> {
        let bindings = self.step.depends_on.iter().map(|dep| self.name_of(dep));
        let run = self.outline.flow.input.as_ref().map(|_| RUN);
        bindings.chain(run).chain([CONTEXT]).collect()
    }

    /// What the parameter that takes a dependency is called. A map takes it by element.
    fn name_of<'d>(&self, dep: &'d Dependency) -> &'d str {
        if self.step.map.is_some() && !dep.is_renamed { ITEM } else { &dep.binding }
    }

    fn is_free(&self, name: &str) -> bool {
        !self.taken.iter().any(|taken| taken == name)
    }

    fn is_untaken(&self, dep: &Dependency) -> bool {
        let is_item_free = self.step.map.is_none() || self.is_free(ITEM);
        self.is_free(&dep.binding) && is_item_free
    }
}

/// Whether this may be our context, as far as its path tells.
fn is_context(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    let before = path.path.segments.iter().rev().nth(1);
    is_called(ty, "Context") && before.is_none_or(|module| module.ident == "pgflow")
}

/// The `State<T>` in an `Option<State<T>>`, or in another type of one argument.
fn held_state(ty: &Type) -> Option<String> {
    let Type::Path(path) = ty else { return None };
    let PathArguments::AngleBracketed(held) = &path.path.segments.last()?.arguments else {
        return None;
    };
    match held.args.first()? {
        GenericArgument::Type(held) if is_called(held, "State") => Some(pretty(held)),
        _ => None,
    }
}

/// What an application holds: a trait's object is shared, so that it has a size and can be cloned.
pub(crate) fn held_as_state(ty: &Type) -> String {
    let text = pretty(ty);
    if matches!(ty, Type::TraitObject(_)) { format!("std::sync::Arc<{text}>") } else { text }
}

/// Whether this is lent by something like a transaction of a database.
fn is_connection(ty: &Type) -> bool {
    let Type::Reference(reference) = ty else { return false };
    let names = ["Connection", "Transaction"];
    let Type::Path(path) = &*reference.elem else { return false };
    let last = path.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
    reference.mutability.is_some() && names.iter().any(|name| last.ends_with(name))
}

/// Types that steps pass on, and that no application has as its state.
const PLAIN: [&str; 6] = ["String", "Vec", "Option", "Value", "HashMap", "BTreeMap"];

/// Whether a type is of the application's own making.
pub(crate) fn is_own(ty: &Type) -> bool {
    if matches!(ty, Type::TraitObject(_)) {
        return true;
    }
    let Type::Path(path) = ty else { return false };
    let last = path.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
    !is_scalar(&last) && !PLAIN.contains(&&*last)
}
