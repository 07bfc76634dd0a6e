//! What to say about a parameter whose name means nothing: what was it meant to be?

use syn::ext::IdentExt;
use syn::{FnArg, Pat, Type};

use crate::flow::{Dependency, Step};
use crate::names::{Outline, listed};
use crate::params::{CONTEXT, ITEM, RUN, is_called, matched_name};
use crate::pretty::pretty;
use crate::suggest::closest;

pub(crate) fn message(step: &Step<'_>, word: &str, ty: &Type, outline: &Outline<'_>) -> String {
    let unknown = Unknown { step, word, ty, outline, taken: taken(step) };
    let help = unknown
        .by_word()
        .or_else(|| unknown.by_dependency())
        .or_else(|| unknown.by_input())
        .unwrap_or_else(|| unknown.all());
    format!("step `{}` does not depend on `{word}`\nhelp: {help}", step.name())
}

/// The names of all parameters of a step.
fn taken(step: &Step<'_>) -> Vec<String> {
    let names = step.item.sig.inputs.iter().filter_map(|arg| match arg {
        FnArg::Typed(arg) => match &*arg.pat {
            Pat::Ident(pat) => Some(matched_name(&pat.ident)),
            _ => None,
        },
        FnArg::Receiver(_) => None,
    });
    names.collect()
}

struct Unknown<'a> {
    step: &'a Step<'a>,
    word: &'a str,
    ty: &'a Type,
    outline: &'a Outline<'a>,
    taken: Vec<String>,
}

impl Unknown<'_> {
    /// The name, or the name of the type, tells.
    fn by_word(&self) -> Option<String> {
        let Self { step, word, ty, outline, .. } = self;
        if *word == "state" {
            return Some(
                "application state is taken as `State<T>`: write `state: State<App>`".to_owned(),
            );
        }
        if is_called(ty, "Context") && self.is_free(CONTEXT) {
            return Some(format!("the context is called `{CONTEXT}`"));
        }
        if outline.find(word).is_some() && step.name().unraw() != word {
            let all = step.depends_on.iter().map(|dep| dep.ident.to_string());
            let all: Vec<_> = all.chain([(*word).to_owned()]).collect();
            return Some(format!("add it: `depends_on = [{}]`", all.join(", ")));
        }
        let free = self.known().into_iter().filter(|name| self.is_free(name));
        if let Some(near) = closest(word, free) {
            return Some(format!("did you mean `{near}`?"));
        }
        (*word == "input" && self.is_free(RUN)).then(|| self.run())
    }

    /// A dependency, or its element, that no parameter takes yet.
    fn by_dependency(&self) -> Option<String> {
        let (word, is_map) = (self.word, self.step.map.is_some());
        match &self.step.depends_on[..] {
            [only] if self.is_untaken(only) => {
                let (step, name) = (&only.ident, self.name_of(only));
                Some(format!("call it `{name}`, or write `depends_on = [{step} as {word}]`"))
            }
            [] if is_map && self.is_free(ITEM) => {
                Some(format!("one element of the run's input is called `{ITEM}`"))
            }
            _ => None,
        }
    }

    /// The run's input, if that is all there is, or if the type is spelled like it.
    fn by_input(&self) -> Option<String> {
        let (_, input) = self.outline.flow.input.as_ref()?;
        let is_likely = self.step.depends_on.is_empty() || pretty(input) == pretty(self.ty);
        (is_likely && self.is_free(RUN)).then(|| self.run())
    }

    fn run(&self) -> String {
        let help = format!("the run's input is called `{RUN}`");
        match &self.outline.flow.input {
            Some(_) => help,
            None => format!("{help}, and declared by `#[flow(input = {})]`", pretty(self.ty)),
        }
    }

    fn all(&self) -> String {
        format!("a parameter of `{}` is one of {}", self.step.name(), listed(&self.known()))
    }

    /// Every name that means something in this step.
    fn known(&self) -> Vec<&str> {
        let bindings = self.step.depends_on.iter().map(|dep| self.name_of(dep));
        bindings.chain([RUN, CONTEXT]).collect()
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
