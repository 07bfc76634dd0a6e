//! The cases, by name.

/// Everything that is measured through a worker, in the order it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WorkerCase {
    Control,
    Noop,
    Chain,
    Diamond,
    Map,
    Start,
    Step,
    Idle,
    Fair,
}

impl WorkerCase {
    pub(crate) const ALL: [Self; 9] = [
        Self::Control,
        Self::Noop,
        Self::Chain,
        Self::Diamond,
        Self::Map,
        Self::Start,
        Self::Step,
        Self::Idle,
        Self::Fair,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Control => "worker-control",
            Self::Noop => "worker-noop",
            Self::Chain => "worker-chain",
            Self::Diamond => "worker-diamond",
            Self::Map => "worker-map",
            Self::Start => "worker-start",
            Self::Step => "worker-step",
            Self::Idle => "worker-idle",
            Self::Fair => "worker-fair",
        }
    }

    pub(crate) fn about(self) -> &'static str {
        match self {
            Self::Control => "control: INSERT of one row per transaction on one connection",
            Self::Noop => "runs of one step that does nothing: started, then drained by a worker",
            Self::Chain => "runs of three steps in a row: started, then drained by a worker",
            Self::Diamond => "runs of four steps in a diamond: started, then drained by a worker",
            Self::Map => "one wide map, drained by a worker",
            Self::Start => "how long from start() to the handler of an idle worker",
            Self::Step => "how long from the end of a step to the handler of the next",
            Self::Idle => "what a worker costs that has nothing to do",
            Self::Fair => "small runs behind a wide map: how long they take, and what that costs",
        }
    }
}
