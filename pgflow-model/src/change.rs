//! How one shape of a flow differs from another.

use std::collections::HashMap;
use std::fmt;

use crate::{FlowShape, Pattern, StepOptions, StepShape};

/// One difference between two shapes of a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The step, by the name it has now, or by the one it had if it is gone; none for the flow.
    pub step: Option<String>,
    /// What happened to it.
    pub edit: Edit,
}

/// What happened to a step or a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Edit {
    /// The step is new.
    Added,
    /// The step is gone.
    Removed,
    /// The step had this slug, and says so with `was`.
    Renamed(String),
    /// Something about it has another value.
    Changed {
        /// Which of its properties.
        part: Part,
        /// The value before, as it is written in `pgflow.lock`; none if it had none.
        before: Option<String>,
        /// The value now.
        now: Option<String>,
    },
}

/// A property of a step or a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// One task, or one per element.
    Kind,
    /// What a step waits for.
    DependsOn,
    /// Conditions and what happens when they are not met, by the name of the argument.
    Policy(&'static str),
    /// Timeouts, attempts and delays, by the name of the argument.
    Setting(&'static str),
    /// The Rust type of an input or output, as written.
    Type,
    /// The number of the form in which runs store their data.
    Format,
}

impl Part {
    /// The word for it.
    ///
    /// ```
    /// assert_eq!(pgflow_model::Part::DependsOn.name(), "depends_on");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Self::Kind => "kind",
            Self::DependsOn => "depends_on",
            Self::Policy(name) | Self::Setting(name) => name,
            Self::Type => "type",
            Self::Format => "format",
        }
    }
}

/// What has to be changed to get from one shape to another; nothing if they are the same graph.
///
/// ```
/// use pgflow_model::{Edit, FlowShape, StepShape, changes};
///
/// let before = FlowShape::new("orders");
/// let mut now = before.clone();
/// now.steps.push(StepShape::new("fetch"));
/// assert_eq!(changes(&before, &now)[0].edit, Edit::Added);
/// ```
pub fn changes(before: &FlowShape, now: &FlowShape) -> Vec<Change> {
    let mut found = Vec::new();
    options(None, before.options, now.options, &mut found);
    part(None, Part::Type, before.input_type.as_ref(), now.input_type.as_ref(), &mut found);
    let (format, format_now) = (before.format.to_string(), now.format.to_string());
    part(None, Part::Format, Some(&format), Some(&format_now), &mut found);
    let renamed = renames(before, now);
    let (before, now) = (before.normalized(), now.normalized());
    for step in &now.steps {
        let was = renamed.iter().find(|(_, new)| **new == step.slug).map(|(old, _)| *old);
        match before.step(was.unwrap_or(&step.slug)) {
            None => found.push(Change { step: Some(step.slug.clone()), edit: Edit::Added }),
            Some(old) => {
                let edit = was.map(|was| Edit::Renamed(was.to_owned()));
                found.extend(edit.map(|edit| Change { step: Some(step.slug.clone()), edit }));
                step_changes(old, step, &renamed, &mut found);
            }
        }
    }
    let is_gone =
        |step: &&StepShape| now.step(&step.slug).is_none() && !renamed.contains_key(&*step.slug);
    let removed = before.steps.iter().filter(is_gone);
    found.extend(removed.map(|step| Change { step: Some(step.slug.clone()), edit: Edit::Removed }));
    found
}

/// Old slugs and new ones, of the steps that say what they were called before.
pub(crate) fn renames<'a>(before: &'a FlowShape, now: &'a FlowShape) -> HashMap<&'a str, &'a str> {
    let rename = |step: &'a StepShape| {
        let was = step.was.as_deref()?;
        let is_gone = before.step(was).is_some() && now.step(was).is_none();
        (is_gone && before.step(&step.slug).is_none()).then_some((was, &*step.slug))
    };
    now.steps.iter().filter_map(rename).collect()
}

fn step_changes(
    before: &StepShape,
    now: &StepShape,
    renamed: &HashMap<&str, &str>,
    found: &mut Vec<Change>,
) {
    let slug = Some(&*now.slug);
    let (kind, kind_now) = (before.kind.sql().to_owned(), now.kind.sql().to_owned());
    part(slug, Part::Kind, Some(&kind), Some(&kind_now), found);
    let mut deps: Vec<&str> =
        before.depends_on.iter().map(|dep| *renamed.get(&**dep).unwrap_or(&&**dep)).collect();
    deps.sort_unstable();
    let (deps, deps_now) = (listed(&deps), listed(&now.depends_on));
    part(slug, Part::DependsOn, deps.as_ref(), deps_now.as_ref(), found);
    for (name, before, now) in
        [("only_if", &before.only_if, &now.only_if), ("unless", &before.unless, &now.unless)]
    {
        let text = |pattern: &Option<Pattern>| pattern.as_ref().map(Pattern::to_string);
        let (before, now) = (text(before), text(now));
        part(slug, Part::Policy(name), before.as_ref(), now.as_ref(), found);
    }
    for (name, before, now) in [
        ("when_unmet", before.when_unmet, now.when_unmet),
        ("when_exhausted", before.when_exhausted, now.when_exhausted),
    ] {
        let (before, now) = (before.keyword().to_owned(), now.keyword().to_owned());
        part(slug, Part::Policy(name), Some(&before), Some(&now), found);
    }
    options(slug, before.options, now.options, found);
    part(slug, Part::Type, before.output_type.as_ref(), now.output_type.as_ref(), found);
}

fn listed(slugs: &[impl AsRef<str>]) -> Option<String> {
    let slugs: Vec<_> = slugs.iter().map(AsRef::as_ref).collect();
    (!slugs.is_empty()).then(|| slugs.join(", "))
}

fn options(step: Option<&str>, before: StepOptions, now: StepOptions, found: &mut Vec<Change>) {
    for rule in crate::OPTIONS {
        let value = |options: StepOptions| {
            options.set().find(|(name, _)| *name == rule.name).map(|(_, value)| value.to_string())
        };
        let (before, now) = (value(before), value(now));
        part(step, Part::Setting(rule.name), before.as_ref(), now.as_ref(), found);
    }
}

fn part(
    step: Option<&str>,
    part: Part,
    before: Option<&String>,
    now: Option<&String>,
    found: &mut Vec<Change>,
) {
    if before != now {
        let edit = Edit::Changed { part, before: before.cloned(), now: now.cloned() };
        found.push(Change { step: step.map(str::to_owned), edit });
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.step {
            Some(slug) => write!(f, "step `{slug}`")?,
            None => f.write_str("the flow")?,
        }
        match &self.edit {
            Edit::Added => f.write_str(" is new"),
            Edit::Removed => f.write_str(" is gone"),
            Edit::Renamed(was) => write!(f, " was called `{was}`"),
            Edit::Changed { part, before, now } => {
                let none = "nothing";
                let (before, now) =
                    (before.as_deref().unwrap_or(none), now.as_deref().unwrap_or(none));
                write!(f, ": {} was {before}, now {now}", part.name())
            }
        }
    }
}
