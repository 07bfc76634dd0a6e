//! What is known of every step before any of them is checked.

use std::collections::HashMap;

use pgflow_model::{OnSkip, Presence};
use syn::ext::IdentExt;
use syn::{Ident, ReturnType};

use crate::args::{FlowArgs, StepArgs};
use crate::item::{FlowItem, StepItem};
use crate::suggest::closest;

/// Names, kinds and policies of a flow's steps.
pub(crate) struct Outline<'a> {
    pub(crate) flow: &'a FlowArgs,
    /// Names in source order.
    pub(crate) names: Vec<String>,
    pub(crate) slugs: Vec<String>,
    pub(crate) is_map: Vec<bool>,
    pub(crate) presence: Vec<Presence>,
    /// What the steps return.
    pub(crate) returns: Vec<&'a ReturnType>,
    /// Names of what the steps wait for.
    waits: Vec<Vec<Ident>>,
    /// Steps that cannot be read: what is said about them is said where they are.
    unreadable: Vec<String>,
    by_name: HashMap<String, usize>,
}

impl<'a> Outline<'a> {
    pub(crate) fn new(
        flow: &'a FlowArgs,
        module: &FlowItem,
        items: &[&'a StepItem],
        args: &[StepArgs],
    ) -> Self {
        let names: Vec<_> = items.iter().map(|item| item.sig.ident.unraw().to_string()).collect();
        let slug = |(name, args): (&String, &StepArgs)| {
            args.slug.as_ref().map_or_else(|| name.clone(), syn::LitStr::value)
        };
        let mut by_name = HashMap::with_capacity(names.len());
        for (at, name) in names.iter().enumerate() {
            by_name.entry(name.clone()).or_insert(at);
        }
        Self {
            flow,
            slugs: names.iter().zip(args).map(slug).collect(),
            is_map: args.iter().map(|args| args.map.is_some()).collect(),
            presence: args.iter().map(presence).collect(),
            returns: items.iter().map(|item| &item.sig.output).collect(),
            waits: args.iter().map(waits).collect(),
            unreadable: module.unreadable().map(|name| name.unraw().to_string()).collect(),
            names,
            by_name,
        }
    }

    /// The step of this name.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// Whether this is the name of a step that cannot be read.
    pub(crate) fn is_unreadable(&self, name: &str) -> bool {
        self.unreadable.iter().any(|unreadable| unreadable == name)
    }

    /// Whether the step at `from` waits for the step `to`, directly or not.
    pub(crate) fn leads_to(&self, from: usize, to: &str) -> bool {
        let (mut next, mut seen) = (vec![from], vec![false; self.names.len()]);
        while let Some(at) = next.pop() {
            if self.waits[at].iter().any(|name| name.unraw() == to) {
                return true;
            }
            let found =
                self.waits[at].iter().filter_map(|name| self.find(&name.unraw().to_string()));
            next.extend(found.filter(|&at| !std::mem::replace(&mut seen[at], true)));
        }
        false
    }

    /// What to say when there is no step `word`, seen from step `from`.
    pub(crate) fn did_you_mean(&self, word: &str, from: &str) -> String {
        let others: Vec<_> =
            self.names.iter().map(String::as_str).filter(|name| *name != from).collect();
        if let Some(at) = self.slugs.iter().position(|slug| slug == word) {
            return format!("`{word}` is the slug of `{0}`: write `{0}`", self.names[at]);
        }
        match closest(word, others.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if others.is_empty() => "this flow has no other step".to_owned(),
            None => format!("the other steps of this flow are {}", listed(&others)),
        }
    }
}

/// Some names, not all of five hundred.
pub(crate) fn listed(names: &[&str]) -> String {
    const SHOWN: usize = 8;
    let shown = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect::<Vec<_>>();
    match names.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

fn waits(args: &StepArgs) -> Vec<Ident> {
    args.depends_on.iter().map(|dep| dep.step.clone()).collect()
}

fn presence(args: &StepArgs) -> Presence {
    Presence::of(args.has_condition(), args.on_unmet(), args.on_exhausted())
}

impl StepArgs {
    pub(crate) fn has_condition(&self) -> bool {
        self.only_if.is_some() || self.unless.is_some()
    }

    pub(crate) fn on_unmet(&self) -> OnSkip {
        self.when_unmet.as_ref().map_or(OnSkip::Skip, |(_, mode)| *mode)
    }

    pub(crate) fn on_exhausted(&self) -> OnSkip {
        self.when_exhausted.unwrap_or(OnSkip::Fail)
    }
}
