//! A flow that has been looked over.

use pgflow_model::{FlowShape, OnSkip, Presence, StepKind, StepOptions, StepShape};
use proc_macro2::Span;
use syn::{Ident, LitInt, LitStr, Path, Type};

use crate::condition::TypeCheck;
use crate::item::{FlowItem, StepItem};
use crate::params::{Param, Source};
use crate::pattern::ConditionArg;
use crate::permits::Permits;
use crate::pretty::pretty;
use crate::schedule::Schedule;

/// A flow that has been looked over. It may still be wrong: see the errors that came with it.
pub struct Flow<'a> {
    /// The module it was read from.
    pub item: &'a FlowItem,
    /// Name in the database.
    pub slug: String,
    /// The same, if it was written.
    pub slug_literal: Option<LitStr>,
    /// The word `input`, and the type of the run's input.
    pub input: Option<(Ident, Type)>,
    /// Defaults for every step.
    pub options: StepOptions,
    /// Whether its types are described by JSON Schemas.
    pub has_schema: bool,
    /// Where `pgflow` is, if it is not `::pgflow`.
    pub crate_path: Option<Path>,
    /// The version this is the code of, if it is not the newest one.
    pub version: Option<LitInt>,
    /// Number of the form in which its runs store their data, if it is not the first.
    pub format: Option<LitInt>,
    /// When it starts by itself.
    pub schedule: Option<Schedule>,
    /// Name of the type that stands for the flow.
    pub type_name: Ident,
    /// Name of the type of the run's output.
    pub output_name: Ident,
    /// Steps, in source order.
    pub steps: Vec<Step<'a>>,
    /// Indices of `steps`, dependencies first.
    pub order: Vec<usize>,
}

/// A step of a [`Flow`].
pub struct Step<'a> {
    /// The function it was read from.
    pub item: &'a StepItem,
    /// Name in the database.
    pub slug: String,
    /// The word `map`, if this is a map step.
    pub map: Option<Ident>,
    /// What it waits for.
    pub depends_on: Vec<Dependency>,
    /// What it takes.
    pub params: Vec<Param<'a>>,
    /// What one task outputs.
    pub output: Option<Output<'a>>,
    /// The `Waiting<T>` that it returns, if it waits; its output is the `T`.
    pub waiting: Option<&'a Type>,
    /// What a task fails with, if it says so: `E` of the `Result<T, E>` it returns.
    pub error: Option<&'a Type>,
    /// Where the word `Result` is.
    pub result_span: Span,
    /// Runs only if its input contains this.
    pub only_if: Option<ConditionArg>,
    /// Runs only if its input does not contain this.
    pub unless: Option<ConditionArg>,
    /// What its conditions ask of types.
    pub type_checks: Vec<TypeCheck>,
    /// Policy when its condition is not met.
    pub when_unmet: OnSkip,
    /// Policy when its attempts run out.
    pub when_exhausted: OnSkip,
    /// Options of its own.
    pub options: StepOptions,
    /// The slug it had in the version before.
    pub was: Option<LitStr>,
    /// What an attempt has to get before it begins.
    pub permits: Permits,
    /// Whether its output is there when the run goes on.
    pub presence: Presence,
    /// Whether no step depends on it, so that the run's output holds its output.
    pub is_leaf: bool,
    /// Whether nothing is wrong with it, so that a call to it can be generated.
    pub is_sound: bool,
    /// Whether an earlier step has its name. The compiler says so itself.
    pub is_duplicate: bool,
}

/// What one task outputs.
#[derive(Clone, Copy)]
pub enum Output<'a> {
    /// `T` of the `Result<T, E>` that the step returns.
    Spelled(&'a Type),
    /// That of the `Result` which this type stands for, as only the compiler knows.
    Behind(&'a Type),
}

impl<'a> Output<'a> {
    /// What is written.
    pub fn written(self) -> &'a Type {
        match self {
            Self::Spelled(ty) | Self::Behind(ty) => ty,
        }
    }
}

/// An edge of the graph.
pub struct Dependency {
    /// The name as written in `depends_on`.
    pub ident: Ident,
    /// The parameter it is bound to.
    pub binding: String,
    /// Whether `binding` was given with `as`.
    pub is_renamed: bool,
    /// Index of the step it names.
    pub step: usize,
}

impl Flow<'_> {
    /// The version it says it is the code of.
    pub fn version(&self) -> Option<u32> {
        number(self.version.as_ref())
    }

    /// The flow as plain data, for the database.
    pub fn shape(&self) -> FlowShape {
        FlowShape {
            slug: self.slug.clone(),
            options: self.options,
            input_type: self.input.as_ref().map(|(_, ty)| pretty(ty)),
            format: number(self.format.as_ref()).unwrap_or(1),
            steps: self.order.iter().map(|&at| self.step_shape(&self.steps[at])).collect(),
        }
    }

    fn step_shape(&self, step: &Step<'_>) -> StepShape {
        let pattern = |arg: &Option<ConditionArg>| arg.as_ref().map(|arg| arg.pattern.clone());
        let slug = |at: usize| self.steps[at].slug.clone();
        StepShape {
            slug: step.slug.clone(),
            kind: step.kind(),
            depends_on: step.depends_on.iter().map(|dep| slug(dep.step)).collect(),
            only_if: pattern(&step.only_if),
            unless: pattern(&step.unless),
            when_unmet: step.when_unmet,
            when_exhausted: step.when_exhausted,
            options: step.options,
            output_type: step.output.map(|output| pretty(output.written())),
            was: step.was.as_ref().map(LitStr::value),
        }
    }
}

/// A number that was checked when it was read.
fn number(literal: Option<&LitInt>) -> Option<u32> {
    literal?.base10_parse().ok()
}

impl Step<'_> {
    /// One task, or one per element.
    pub fn kind(&self) -> StepKind {
        if self.map.is_some() { StepKind::Map } else { StepKind::Single }
    }

    /// Its function's name.
    pub fn name(&self) -> &Ident {
        &self.item.sig.ident
    }

    /// Whether a parameter comes from there.
    pub fn takes(&self, source: Source) -> bool {
        self.params.iter().any(|param| param.source == source)
    }
}
