//! Steps, in few words.

use pgflow_model::{OnSkip, StepOptions, StepShape};
use serde_json::Value;

pub(crate) fn single(slug: &str) -> StepShape {
    StepShape::new(slug)
}

/// `max_attempts`, `base_delay` and `timeout`.
pub(crate) fn options(max_attempts: u32, base_delay: u32, timeout: u32) -> StepOptions {
    StepOptions {
        max_attempts: Some(max_attempts),
        base_delay: Some(base_delay),
        timeout: Some(timeout),
        ..StepOptions::INHERIT
    }
}

/// What the builder of the model leaves out.
pub(crate) trait StepExt {
    fn attempts(self, max: u32) -> Self;
    fn base_delay(self, seconds: u32) -> Self;
    fn timeout(self, seconds: u32) -> Self;
    fn start_delay(self, seconds: u32) -> Self;
    fn only_if(self, pattern: Value) -> Self;
    fn unless(self, pattern: Value) -> Self;
    fn unmet(self, mode: OnSkip) -> Self;
    fn exhausted(self, mode: OnSkip) -> Self;
}

impl StepExt for StepShape {
    fn attempts(mut self, max: u32) -> Self {
        self.options.max_attempts = Some(max);
        self
    }

    fn base_delay(mut self, seconds: u32) -> Self {
        self.options.base_delay = Some(seconds);
        self
    }

    fn timeout(mut self, seconds: u32) -> Self {
        self.options.timeout = Some(seconds);
        self
    }

    fn start_delay(mut self, seconds: u32) -> Self {
        self.options.start_delay = Some(seconds);
        self
    }

    fn only_if(mut self, pattern: Value) -> Self {
        self.only_if = Some(pattern.try_into().expect("a pattern is an object"));
        self
    }

    fn unless(mut self, pattern: Value) -> Self {
        self.unless = Some(pattern.try_into().expect("a pattern is an object"));
        self
    }

    fn unmet(mut self, mode: OnSkip) -> Self {
        self.when_unmet = mode;
        self
    }

    fn exhausted(mut self, mode: OnSkip) -> Self {
        self.when_exhausted = mode;
        self
    }
}
