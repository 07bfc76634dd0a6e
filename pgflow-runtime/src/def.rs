//! A flow as the worker sees it.

mod said;

use pgflow_model::{FlowShape, OnSkip, Pattern, Presence, StepKind, StepOptions, StepShape};

use crate::Error;
use crate::ScheduleDef;
use crate::extract::Need;
use crate::kept::AnyKept;
use crate::schema::SchemaFn;
use crate::task::Call;

/// A flow as the worker sees it: constant data, made by `#[flow]`.
///
/// ```
/// # use pgflow::prelude::*;
/// # #[flow] mod ping { #[step] pub async fn pong() -> pgflow::Result<u8> { Ok(1) } }
/// let def = ping::Flow::DEF;
/// assert_eq!((def.slug, def.steps.len()), ("ping", 1));
/// ```
#[derive(Debug)]
pub struct FlowDef {
    /// Name of the flow, for all its versions.
    pub slug: &'static str,
    /// Which version this is, by `pgflow.lock`; 1 without that file.
    pub version: u32,
    /// Name of this version in the database, and of its queue.
    pub version_slug: &'static str,
    /// Earlier versions whose runs this code can finish.
    pub finishes: &'static [Finishes],
    /// Defaults for every step.
    pub options: StepOptions,
    /// Type of the run's input as written, if the flow has one.
    pub input_type: Option<&'static str>,
    #[doc(hidden)]
    pub input_schema: fn() -> Option<SchemaFn>,
    /// When it starts by itself.
    pub schedule: Option<ScheduleDef>,
    /// Steps, each after everything it depends on.
    pub steps: &'static [StepDef],
}

/// An earlier version of a flow whose runs newer code can finish.
///
/// ```
/// # use pgflow::prelude::*;
/// # #[flow] mod ping { #[step] pub async fn pong() -> pgflow::Result<u8> { Ok(1) } }
/// assert!(ping::Flow::DEF.finishes.is_empty());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finishes {
    /// Its number.
    pub version: u32,
    /// Its name in the database, and that of its queue.
    pub version_slug: &'static str,
    /// Slugs of its steps and those they have in the newer code, where they differ.
    pub renamed: &'static [(&'static str, &'static str)],
}

/// A step as the worker sees it: its place in the graph, and the function to call.
///
/// ```
/// # use pgflow::prelude::*;
/// # #[flow] mod ping { #[step(timeout = "1m")] pub async fn pong() -> pgflow::Result<u8> { Ok(1) } }
/// let pong = &ping::Flow::DEF.steps[0];
/// assert_eq!((pong.slug, pong.options.timeout), ("pong", Some(60)));
/// ```
#[derive(Debug)]
#[must_use]
pub struct StepDef {
    /// Name in the database.
    pub slug: &'static str,
    /// One task, or one task per element.
    pub kind: StepKind,
    /// Slugs of the steps it waits for.
    pub depends_on: &'static [&'static str],
    /// Runs only if its input contains this JSON.
    pub only_if: Option<&'static str>,
    /// Runs only if its input does not contain this JSON.
    pub unless: Option<&'static str>,
    /// What happens when the condition is not met.
    pub when_unmet: OnSkip,
    /// What happens when the attempts run out.
    pub when_exhausted: OnSkip,
    /// Options that override the flow's.
    pub options: StepOptions,
    /// Type of one task's output, as written.
    pub output_type: &'static str,
    /// Application state it needs.
    pub needs: &'static [Option<Need>],
    /// Whether it takes the transaction that records its completion.
    pub takes_tx: bool,
    /// Whether it has a stream.
    pub has_stream: bool,
    /// Whether it takes the run's input.
    pub takes_run: bool,
    /// Whether it waits, and takes the hook that it waits for.
    pub waits: Option<Waits>,
    /// Resources that an attempt holds a unit of.
    pub resources: &'static [&'static str],
    /// The rate that an attempt takes a token of.
    pub rate: Option<&'static str>,
    #[doc(hidden)]
    pub kept: fn() -> AnyKept,
    #[doc(hidden)]
    pub call: Call,
}

/// How a step waits, as its signature says it.
///
/// ```
/// # use pgflow::prelude::*;
/// # #[flow] mod nap { #[step] pub async fn a_minute(ctx: pgflow::Context) -> pgflow::Result<pgflow::Waiting<()>> { Ok(ctx.sleep(std::time::Duration::from_secs(60))) } }
/// let waits = nap::Flow::DEF.steps[0].waits.expect("it waits");
/// assert!(!waits.takes_hook);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waits {
    /// Whether it takes a hook, whose token has to be there before its function is called.
    pub takes_hook: bool,
}

impl FlowDef {
    /// A flow with nothing said about it: what the macro starts from.
    #[doc(hidden)]
    pub const PLAIN: Self = Self {
        slug: "",
        version: 1,
        version_slug: "",
        finishes: &[],
        options: StepOptions::INHERIT,
        input_type: None,
        input_schema: || None,
        schedule: None,
        steps: &[],
    };

    /// The step of this slug.
    ///
    /// ```
    /// # use pgflow::prelude::*;
    /// # #[flow] mod ping { #[step] pub async fn pong() -> pgflow::Result<u8> { Ok(1) } }
    /// assert_eq!(ping::Flow::DEF.step("pong").unwrap().output_type, "u8");
    /// ```
    pub fn step(&self, slug: &str) -> Option<&'static StepDef> {
        self.steps.iter().find(|step| step.slug == slug)
    }

    /// The graph, as plain data.
    ///
    /// ```
    /// # use pgflow::prelude::*;
    /// # #[flow] mod ping { #[step] pub async fn pong() -> pgflow::Result<u8> { Ok(1) } }
    /// assert_eq!(ping::Flow::DEF.shape(), ping::Flow::shape());
    /// ```
    pub fn shape(&self) -> FlowShape {
        FlowShape {
            slug: self.slug.to_owned(),
            options: self.options,
            input_type: self.input_type.map(str::to_owned),
            format: 1,
            steps: self.steps.iter().map(StepDef::shape).collect(),
        }
    }
}

impl StepDef {
    /// A step with nothing said about it.
    pub(crate) const PLAIN: Self = Self {
        slug: "",
        kind: StepKind::Single,
        depends_on: &[],
        only_if: None,
        unless: None,
        when_unmet: OnSkip::Skip,
        when_exhausted: OnSkip::Fail,
        options: StepOptions::INHERIT,
        output_type: "",
        needs: &[],
        takes_tx: false,
        has_stream: false,
        takes_run: false,
        waits: None,
        resources: &[],
        rate: None,
        kept: AnyKept::nothing,
        call: |_| Err(Error::fatal("this step did not compile")),
    };

    /// Whether dependents may run although this step was skipped.
    pub(crate) fn may_be_missing(&self) -> bool {
        let has_condition = self.only_if.is_some() || self.unless.is_some();
        Presence::of(has_condition, self.when_unmet, self.when_exhausted).may_be_missing
    }

    /// Its place in the graph, as plain data.
    ///
    /// ```
    /// # use pgflow::prelude::*;
    /// # #[flow] mod ping { #[step] pub async fn pong() -> pgflow::Result<u8> { Ok(1) } }
    /// assert_eq!(ping::Flow::DEF.steps[0].shape().slug, "pong");
    /// ```
    pub fn shape(&self) -> StepShape {
        StepShape {
            slug: self.slug.to_owned(),
            kind: self.kind,
            depends_on: self.depends_on.iter().map(|&slug| slug.to_owned()).collect(),
            only_if: self.only_if.and_then(pattern),
            unless: self.unless.and_then(pattern),
            when_unmet: self.when_unmet,
            when_exhausted: self.when_exhausted,
            options: self.options,
            output_type: Some(self.output_type.to_owned()),
            was: None,
        }
    }
}

/// The macro wrote it, after reading it with the same parser.
fn pattern(text: &str) -> Option<Pattern> {
    text.parse().ok()
}
