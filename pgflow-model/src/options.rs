//! Options that are numbers, and what they may be.

/// All options, a line each: this is the only list of them in Rust. Calls a macro with it; `both` are options of flows too.
#[doc(hidden)]
#[macro_export]
macro_rules! step_options {
    ($($then:tt)+) => { $($then)+! {
        max_attempts both 1 count "How many times a task is tried."
            "`max_attempts = 3`: how many times a task is tried.";
        base_delay both 0 seconds "What the delay before a retry is computed from, in seconds."
            "`base_delay = \"5s\"`: what the delay before a retry is computed from.";
        timeout both 1 seconds "Longest run of one task, in seconds."
            "`timeout = \"1m\"`: longest run of one task.";
        start_delay step 0 seconds "Delay before the first attempt, in seconds."
            "`start_delay = \"10s\"`: delay before the first attempt.";
        wait_timeout step 1 seconds "Longest wait of one task, in seconds; none waits for ever."
            "`wait_timeout = \"7d\"`: how long a task waits that returned a `Waiting<T>`. For ever, if it is not said.";
    } };
}

macro_rules! is {
    (seconds) => {
        true
    };
    (both) => {
        true
    };
    ($other:ident) => {
        false
    };
}

macro_rules! define {
    ($($name:ident $of:ident $min:literal $unit:ident $about:literal $attribute:literal;)+) => {
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
            $(#[doc = $about] pub $name: Option<u32>,)+
        }

        impl StepOptions {
            /// Nothing set.
            pub const INHERIT: Self = Self { $($name: None,)+ };

            /// These options, and the flow's where these say nothing.
            #[must_use]
            pub fn or(self, flow: Self) -> Self {
                Self { $($name: self.$name.or(flow.$name),)+ }
            }

            /// The place of the option of this name.
            pub fn get_mut(&mut self, name: &str) -> Option<&mut Option<u32>> {
                match name {
                    $(stringify!($name) => Some(&mut self.$name),)+
                    _ => None,
                }
            }

            fn values(self) -> [Option<u32>; OPTIONS.len()] {
                [$(self.$name),+]
            }
        }

        /// The options, in the order of the fields of [`StepOptions`].
        ///
        /// ```
        /// let names = pgflow_model::OPTIONS.map(|rule| rule.name);
        /// assert_eq!(names[..2], ["max_attempts", "base_delay"]);
        /// ```
        pub const OPTIONS: [OptionRule; [$($min),+].len()] = [$(OptionRule {
            name: stringify!($name),
            min: $min,
            is_duration: is!($unit),
        }),+];

        /// Names of the options that flows have too, for steps that do not say otherwise.
        ///
        /// ```
        /// assert!(pgflow_model::flow_options().all(|name| name != "start_delay"));
        /// ```
        pub fn flow_options() -> impl Iterator<Item = &'static str> {
            let all = [$((stringify!($name), is!($of))),+];
            all.into_iter().filter_map(|(name, is_of_flows)| is_of_flows.then_some(name))
        }
    };
}

step_options!(define);

impl StepOptions {
    /// How many times a task is tried when neither step nor flow says so.
    pub const DEFAULT_MAX_ATTEMPTS: u32 = 3;

    /// Options that are set, under their SQL names.
    pub fn set(&self) -> impl Iterator<Item = (&'static str, u32)> + use<> {
        OPTIONS.iter().zip(self.values()).filter_map(|(rule, value)| Some((rule.name, value?)))
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
