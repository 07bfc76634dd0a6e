//! What runs, steps and tasks can be.

/// Makes an enum whose variants have one spelling in every database.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, ::serde::Serialize, ::serde::Deserialize,
        )]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// Every one.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The spelling in databases.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            /// From the spelling in databases.
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|this| this.word() == word)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.word())
            }
        }
    };
}

pub(crate) use words;

words! {
    /// What a run is.
    ///
    /// ```
    /// use pgflow_machine::RunStatus;
    ///
    /// assert!(!RunStatus::Started.has_ended());
    /// assert_eq!(RunStatus::from_word("failed"), Some(RunStatus::Failed));
    /// ```
    RunStatus {
        /// It goes on.
        Started = "started",
        /// All its steps are completed or skipped.
        Completed = "completed",
        /// A step failed for good.
        Failed = "failed",
        /// It was ended early, by a client.
        Cancelled = "cancelled",
    }
}

words! {
    /// What a step of a run is.
    StepStatus {
        /// It waits for others.
        Created = "created",
        /// Its tasks are there.
        Started = "started",
        /// All its tasks are completed.
        Completed = "completed",
        /// It ended the run.
        Failed = "failed",
        /// The run goes on without it.
        Skipped = "skipped",
    }
}

words! {
    /// What a task is. When its run or step ends before it, it stays as it was.
    TaskStatus {
        /// It waits for a worker.
        Queued = "queued",
        /// A worker has it.
        Started = "started",
        /// Its attempt has ended, and what it waits for has not happened.
        Waiting = "waiting",
        /// Its output is recorded.
        Completed = "completed",
        /// It has no attempt left.
        Failed = "failed",
    }
}

words! {
    /// Why a step was skipped.
    ///
    /// ```
    /// use pgflow_machine::SkipReason;
    ///
    /// assert_eq!(SkipReason::from_word("condition_unmet"), Some(SkipReason::ConditionUnmet));
    /// ```
    SkipReason {
        /// Its condition was not met.
        ConditionUnmet = "condition_unmet",
        /// It had no attempt left.
        HandlerFailed = "handler_failed",
        /// A step before it was skipped together with all that follows.
        DependencySkipped = "dependency_skipped",
    }
}

impl RunStatus {
    /// Whether nothing more happens.
    pub const fn has_ended(self) -> bool {
        !matches!(self, Self::Started)
    }
}
