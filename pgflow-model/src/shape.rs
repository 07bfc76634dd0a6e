//! A flow's steps in the order they are created.

use crate::{OnSkip, Pattern, Presence, StepOptions};

/// A flow: its name, its options, and its steps in topological order.
///
/// ```
/// use pgflow_model::{FlowShape, StepShape};
///
/// let mut orders = FlowShape::new("orders");
/// orders.options.timeout = Some(60);
/// orders.steps = vec![StepShape::new("fetch"), StepShape::new("ship").after("fetch")];
/// assert_eq!(orders.steps[1].depends_on, ["fetch"]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FlowShape {
    /// Name in the database.
    pub slug: String,
    /// Defaults for every step.
    pub options: StepOptions,
    /// Rust type of the run's input, as written.
    pub input_type: Option<String>,
    /// Number of the form in which its runs store their data, from 1: code of one form does not read
    /// data of another.
    pub format: u32,
    /// Steps; each one comes after everything it depends on.
    pub steps: Vec<StepShape>,
}

/// One step of a flow.
///
/// ```
/// use pgflow_model::{StepKind, StepShape};
///
/// let mut pack = StepShape::new("pack").map().after("fetch");
/// assert_eq!(pack.kind, StepKind::Map);
/// assert!(!pack.presence().may_be_missing);
///
/// pack.only_if = Some(r#"{ "fetch": [{ "paid": true }] }"#.parse()?);
/// assert!(pack.presence().may_be_missing);
/// # Ok::<(), pgflow_model::InvalidPattern>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct StepShape {
    /// Name in the database.
    pub slug: String,
    /// One task, or one task per element.
    pub kind: StepKind,
    /// Slugs of the steps that must finish first, in the order they were listed.
    pub depends_on: Vec<String>,
    /// Runs only if its input contains this.
    pub only_if: Option<Pattern>,
    /// Runs only if its input does not contain this.
    pub unless: Option<Pattern>,
    /// What happens when the condition is not met.
    pub when_unmet: OnSkip,
    /// What happens when the attempts run out.
    pub when_exhausted: OnSkip,
    /// Options that override the flow's.
    pub options: StepOptions,
    /// Rust type of one task's output, as written.
    pub output_type: Option<String>,
    /// The slug it had in the version before, if it was renamed.
    pub was: Option<String>,
}

/// How many tasks a step makes.
///
/// ```
/// assert_eq!(pgflow_model::StepKind::Map.sql(), "map");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StepKind {
    /// One task.
    #[default]
    Single,
    /// One task per element of a sequence.
    Map,
}

impl StepKind {
    /// The spelling used in the database.
    pub const fn sql(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Map => "map",
        }
    }

    /// The kind that the database spells like this.
    ///
    /// ```
    /// use pgflow_model::StepKind;
    /// assert_eq!(StepKind::of_sql("map"), Some(StepKind::Map));
    /// ```
    pub fn of_sql(text: &str) -> Option<Self> {
        [Self::Single, Self::Map].into_iter().find(|kind| kind.sql() == text)
    }
}

impl FlowShape {
    /// A flow without steps, options or input.
    pub fn new(slug: impl Into<String>) -> Self {
        Self {
            slug: slug.into(),
            options: StepOptions::INHERIT,
            input_type: None,
            format: 1,
            steps: Vec::new(),
        }
    }
}

impl StepShape {
    /// A step that depends on nothing and inherits everything.
    pub fn new(slug: impl Into<String>) -> Self {
        Self {
            slug: slug.into(),
            kind: StepKind::Single,
            depends_on: Vec::new(),
            only_if: None,
            unless: None,
            when_unmet: OnSkip::Skip,
            when_exhausted: OnSkip::Fail,
            options: StepOptions::INHERIT,
            output_type: None,
            was: None,
        }
    }

    /// The same step, one task per element.
    #[must_use]
    pub fn map(self) -> Self {
        Self { kind: StepKind::Map, ..self }
    }

    /// The same step, after one more.
    #[must_use]
    pub fn after(mut self, slug: impl Into<String>) -> Self {
        self.depends_on.push(slug.into());
        self
    }

    /// Whether it runs only under some condition.
    pub fn has_condition(&self) -> bool {
        self.only_if.is_some() || self.unless.is_some()
    }

    /// What its own policies say about its output; see [`Presence::after`] for its dependencies'.
    pub fn presence(&self) -> Presence {
        Presence::of(self.has_condition(), self.when_unmet, self.when_exhausted)
    }
}
