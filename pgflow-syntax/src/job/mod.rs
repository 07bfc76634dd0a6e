//! Reads `#[job]` modules: a kind of job, and its needs.

mod args;
mod check;
mod params;

use syn::parse::{Parse, ParseStream};
use syn::{Ident, Path, Type};

pub use check::check as check_job;
pub use params::{NeedParam, NeedSource};

use crate::flow::Output;
use crate::item::{FlowItem, StepItem, Words};
use crate::permits::Permits;

/// `#[job]` and `#[need]`.
pub(crate) const JOB: Words = Words {
    module: "job",
    function: "need",
    one_shape: "programs hand jobs to each other",
    context: "JobContext",
    returns: "pgflow::Result<Next>",
    or_output: "",
    wrapped: "write `-> pgflow::Result<Next>`, and end with `Ok(Next::done(…))` or `Ok(Next::to::<…>(…))`",
};

/// `#[job] mod name { … }`.
pub struct JobItem(pub FlowItem);

impl Parse for JobItem {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        FlowItem::parse_as(&JOB, input).map(Self)
    }
}

/// A kind of job that has been looked over. It may still be wrong: see the errors that came with it.
pub struct Job<'a> {
    /// The module it was read from.
    pub item: &'a FlowItem,
    /// What the capabilities of its needs begin with.
    pub name: String,
    /// Where `pgflow` is, if it is not `::pgflow`.
    pub crate_path: Option<Path>,
    /// Name of the type that stands for the job.
    pub type_name: Ident,
    /// Name of the type that needs return.
    pub next_name: Ident,
    /// Its needs, in source order.
    pub needs: Vec<Need<'a>>,
}

/// A need of a [`Job`].
pub struct Need<'a> {
    /// The function it was read from.
    pub item: &'a StepItem,
    /// The capability that a worker must have, such as `invoice.ingest`.
    pub capability: String,
    /// The word `external`, if nobody here handles it.
    pub external: Option<Ident>,
    /// Numbers of its options, with their names.
    pub options: NeedOptions,
    /// What an attempt has to get before it begins.
    pub permits: Permits,
    /// What it takes.
    pub params: Vec<NeedParam<'a>>,
    /// What it returns in its `Result`.
    pub output: Option<Output<'a>>,
    /// What it fails with, if it says so.
    pub error: Option<&'a Type>,
    /// Where the word `Result` is.
    pub result_span: proc_macro2::Span,
    /// Whether nothing is wrong with it, so that a call to it can be generated.
    pub is_sound: bool,
    /// Whether an earlier need has its name. The compiler says so itself.
    pub is_duplicate: bool,
}

/// Options of a need: what is not said is as the worker has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NeedOptions {
    /// Seconds that a lease lasts.
    pub lease: Option<u32>,
    /// How often a job may be claimed for this need.
    pub max_attempts: Option<u32>,
    /// Seconds before the second attempt; each further one waits twice as long.
    pub base_delay: Option<u32>,
}

impl NeedOptions {
    /// Those that are set, by name.
    pub fn set(self) -> impl Iterator<Item = (&'static str, u32)> {
        let all = [
            ("lease", self.lease),
            ("max_attempts", self.max_attempts),
            ("base_delay", self.base_delay),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name, value?)))
    }
}

impl Need<'_> {
    /// Name of its function.
    pub fn name(&self) -> &Ident {
        &self.item.sig.ident
    }

    /// The type of its payload, if it takes one.
    pub fn payload(&self) -> Option<&Type> {
        self.param(NeedSource::Payload).map(|param| param.ty)
    }

    /// The parameter that comes from there.
    pub fn param(&self, source: NeedSource) -> Option<&NeedParam<'_>> {
        self.params.iter().find(|param| param.source == source)
    }
}
