//! What happens to a step that cannot produce an output, and what its dependents see of it.

/// What to do with a step whose condition is not met, or whose attempts ran out.
///
/// ```
/// assert_eq!(pgflow_model::OnSkip::SkipCascade.keyword(), "skip_cascade");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnSkip {
    /// The run fails.
    Fail,
    /// The step is skipped; dependents run without its output.
    Skip,
    /// The step is skipped, and so is everything that depends on it.
    SkipCascade,
}

impl OnSkip {
    /// Every mode.
    pub const ALL: [Self; 3] = [Self::Fail, Self::Skip, Self::SkipCascade];

    /// The spelling used in attributes.
    pub const fn keyword(self) -> &'static str {
        match self {
            Self::Fail => "fail",
            Self::Skip => "skip",
            Self::SkipCascade => "skip_cascade",
        }
    }

    /// The spelling used in the database.
    pub const fn sql(self) -> &'static str {
        match self {
            Self::Fail => "fail",
            Self::Skip => "skip",
            Self::SkipCascade => "skip-cascade",
        }
    }

    /// The mode that the database spells like this.
    ///
    /// ```
    /// use pgflow_model::OnSkip;
    /// assert_eq!(OnSkip::of_sql("skip-cascade"), Some(OnSkip::SkipCascade));
    /// ```
    pub fn of_sql(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.sql() == text)
    }
}

/// Whether the output of a step is there when the run goes on after it.
///
/// ```
/// use pgflow_model::{OnSkip, Presence};
///
/// // A condition that is not met skips the step by default.
/// let step = Presence::of(true, OnSkip::Skip, OnSkip::Fail);
/// assert!(step.may_be_missing);
/// // Without a condition, `when_unmet` has no effect.
/// let step = Presence::of(false, OnSkip::Skip, OnSkip::Fail);
/// assert!(!step.may_be_missing);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Presence {
    /// Dependents may run although this step was skipped, so they take an `Option`.
    pub may_be_missing: bool,
    /// It may be skipped together with everything after it, so only the run's output notices.
    pub may_cascade: bool,
}

impl Presence {
    /// From a step's own policies.
    pub fn of(has_condition: bool, when_unmet: OnSkip, when_exhausted: OnSkip) -> Self {
        let is = |mode| when_exhausted == mode || (has_condition && when_unmet == mode);
        Self { may_be_missing: is(OnSkip::Skip), may_cascade: is(OnSkip::SkipCascade) }
    }

    /// The same step after a dependency of it was looked at: a cascade goes on through it.
    #[must_use]
    pub fn after(self, dependency: Self) -> Self {
        Self { may_cascade: self.may_cascade || dependency.may_cascade, ..self }
    }

    /// Whether a run can complete without an output of this step.
    pub fn is_optional(self) -> bool {
        self.may_be_missing || self.may_cascade
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cascade_reaches_the_steps_after_it() {
        let first = Presence::of(false, OnSkip::Skip, OnSkip::SkipCascade);
        let second = Presence::of(false, OnSkip::Skip, OnSkip::Fail).after(first);
        assert!(!second.may_be_missing);
        assert!(second.is_optional());
    }

    #[test]
    fn a_plain_skip_stops_at_its_dependents() {
        let first = Presence::of(false, OnSkip::Skip, OnSkip::Skip);
        let second = Presence::of(false, OnSkip::Skip, OnSkip::Fail).after(first);
        assert!(first.may_be_missing);
        assert!(!second.is_optional());
    }
}
