//! A flow and how its tasks behave.

use serde_json::Value;

use crate::harness::lit;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Fail,
    Skip,
    SkipCascade,
}

impl Mode {
    fn sql(self) -> &'static str {
        match self {
            Self::Fail => "fail",
            Self::Skip => "skip",
            Self::SkipCascade => "skip-cascade",
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) slug: String,
    pub(super) is_map: bool,
    pub(super) deps: Vec<usize>,
    pub(super) required: Option<Value>,
    pub(super) forbidden: Option<Value>,
    pub(super) when_unmet: Mode,
    pub(super) when_exhausted: Mode,
    pub(super) max_attempts: u64,
    /// How often each task fails before it succeeds.
    pub(super) failures: u64,
    /// The array that a single step puts out, if it feeds maps.
    pub(super) array: Option<Value>,
}

#[derive(Debug)]
pub(super) struct Flow {
    pub(super) slug: String,
    pub(super) input: Value,
    pub(super) steps: Vec<Step>,
}

impl Flow {
    pub(super) fn definition(&self) -> String {
        let create = format!("select pgflow.create_flow('{}', base_delay => 0);\n", self.slug);
        create + &self.steps.iter().map(|step| self.add_step(step)).collect::<String>()
    }

    fn add_step(&self, step: &Step) -> String {
        let deps: Vec<_> = step.deps.iter().map(|dep| lit(&self.steps[*dep].slug)).collect();
        let pattern = |value: &Option<Value>| {
            value.as_ref().map_or("null".to_owned(), |value| lit(&value.to_string()))
        };
        format!(
            "select pgflow.add_step('{}', '{}', array[{}]::text[], max_attempts => {}, step_type => '{}',
                required_input_pattern => {}, forbidden_input_pattern => {}, when_unmet => '{}',
                when_exhausted => '{}');\n",
            self.slug,
            step.slug,
            deps.join(", "),
            step.max_attempts,
            if step.is_map { "map" } else { "single" },
            pattern(&step.required),
            pattern(&step.forbidden),
            step.when_unmet.sql(),
            step.when_exhausted.sql(),
        )
    }

    pub(super) fn step(&self, slug: &str) -> &Step {
        self.steps.iter().find(|step| step.slug == slug).expect("a step of the flow")
    }

    pub(super) fn feeds_map(&self, index: usize) -> bool {
        self.steps.iter().any(|step| step.is_map && step.deps == [index])
    }
}

impl Step {
    /// What a task puts out for an input: something that shows whether the input was right.
    pub(super) fn output(&self, input: &Value) -> Value {
        match &self.array {
            Some(array) => array.clone(),
            None => serde_json::json!({ "h": hash(&format!("{} {input}", self.slug)) }),
        }
    }

    pub(super) fn is_exhausted(&self) -> bool {
        self.failures >= self.max_attempts
    }
}

/// FNV-1a, cut to what a JSON number keeps.
fn hash(text: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in text.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash >> 16
}
