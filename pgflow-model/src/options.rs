//! Options that are numbers, and what they may be.

/// Options in seconds and counts; `None` inherits.
///
/// ```
/// use pgflow_model::StepOptions;
///
/// let options = StepOptions { timeout: Some(30), ..StepOptions::INHERIT };
/// assert_eq!(options.set().collect::<Vec<_>>(), [("timeout", 30)]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepOptions {
    /// How many times a task is tried.
    pub max_attempts: Option<u32>,
    /// What the delay before a retry is computed from, in seconds.
    pub base_delay: Option<u32>,
    /// Longest run of one task, in seconds.
    pub timeout: Option<u32>,
    /// Delay before the first attempt, in seconds.
    pub start_delay: Option<u32>,
}

impl StepOptions {
    /// Nothing set.
    pub const INHERIT: Self =
        Self { max_attempts: None, base_delay: None, timeout: None, start_delay: None };

    /// How many times a task is tried when neither step nor flow says so.
    pub const DEFAULT_MAX_ATTEMPTS: u32 = 3;

    /// Options that are set, under their SQL names.
    pub fn set(&self) -> impl Iterator<Item = (&'static str, u32)> + use<> {
        OPTIONS.iter().zip(self.values()).filter_map(|(rule, value)| Some((rule.name, value?)))
    }

    /// These options, and the flow's where these say nothing.
    #[must_use]
    pub fn or(self, flow: Self) -> Self {
        Self {
            max_attempts: self.max_attempts.or(flow.max_attempts),
            base_delay: self.base_delay.or(flow.base_delay),
            timeout: self.timeout.or(flow.timeout),
            start_delay: self.start_delay.or(flow.start_delay),
        }
    }

    /// The place of the option of this name.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Option<u32>> {
        match name {
            "max_attempts" => Some(&mut self.max_attempts),
            "base_delay" => Some(&mut self.base_delay),
            "timeout" => Some(&mut self.timeout),
            "start_delay" => Some(&mut self.start_delay),
            _ => None,
        }
    }

    fn values(self) -> [Option<u32>; 4] {
        [self.max_attempts, self.base_delay, self.timeout, self.start_delay]
    }
}

/// What an option may be.
///
/// ```
/// use pgflow_model::OptionRule;
///
/// let timeout = OptionRule::of("timeout").expect("there is such an option");
/// assert!(timeout.is_duration);
/// assert_eq!(timeout.min, 1);
/// assert_eq!(OptionRule::of("retries"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionRule {
    /// Its name, in attributes and in SQL.
    pub name: &'static str,
    /// The smallest value.
    pub min: u32,
    /// Whether it counts seconds, so that `"5m"` is a value too.
    pub is_duration: bool,
}

impl OptionRule {
    /// The largest value: the database keeps options as 32-bit integers.
    pub const MAX: u32 = i32::MAX.unsigned_abs();

    /// The rule of the option of this name.
    pub fn of(name: &str) -> Option<Self> {
        OPTIONS.iter().copied().find(|rule| rule.name == name)
    }
}

/// The options, in the order of the fields of [`StepOptions`].
///
/// ```
/// let names = pgflow_model::OPTIONS.map(|rule| rule.name);
/// assert_eq!(names, ["max_attempts", "base_delay", "timeout", "start_delay"]);
/// ```
pub const OPTIONS: [OptionRule; 4] = [
    OptionRule { name: "max_attempts", min: 1, is_duration: false },
    OptionRule { name: "base_delay", min: 0, is_duration: true },
    OptionRule { name: "timeout", min: 1, is_duration: true },
    OptionRule { name: "start_delay", min: 0, is_duration: true },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_wins_over_its_flow() {
        let step = StepOptions { timeout: Some(5), ..StepOptions::INHERIT };
        let flow = StepOptions { timeout: Some(60), max_attempts: Some(2), ..StepOptions::INHERIT };
        assert_eq!(step.or(flow).set().collect::<Vec<_>>(), [("max_attempts", 2), ("timeout", 5)]);
    }

    #[test]
    fn every_rule_has_its_place() {
        for (at, rule) in OPTIONS.iter().enumerate() {
            let mut options = StepOptions::INHERIT;
            *options.get_mut(rule.name).expect("a place") = Some(7);
            assert_eq!(options.values()[at], Some(7), "{}", rule.name);
        }
        assert_eq!(StepOptions::default().get_mut("retries"), None);
    }
}
