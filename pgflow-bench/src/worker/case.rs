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
    Waiters,
    Jobs,
    JobSubmit,
    JobCycle,
    JobEmpty,
    JobJoin,
    Pipelines,
    Append,
    Readers,
    Signal,
    Sleep,
}

impl WorkerCase {
    pub(crate) const ALL: [Self; 20] = [
        Self::Control,
        Self::Noop,
        Self::Chain,
        Self::Diamond,
        Self::Map,
        Self::Start,
        Self::Step,
        Self::Idle,
        Self::Fair,
        Self::Waiters,
        Self::Jobs,
        Self::JobSubmit,
        Self::JobCycle,
        Self::JobEmpty,
        Self::JobJoin,
        Self::Pipelines,
        Self::Append,
        Self::Readers,
        Self::Signal,
        Self::Sleep,
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
            Self::Waiters => "worker-waiters",
            Self::Jobs => "worker-jobs",
            Self::JobSubmit => "worker-jobs-submit",
            Self::JobCycle => "worker-jobs-cycle",
            Self::JobEmpty => "worker-jobs-empty",
            Self::JobJoin => "worker-jobs-join",
            Self::Pipelines => "worker-pipelines",
            Self::Append => "worker-append",
            Self::Readers => "worker-readers",
            Self::Signal => "worker-signal",
            Self::Sleep => "worker-sleep",
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
            Self::Waiters => {
                "runs of one step while nobody waits, and while hundreds wait for others"
            }
            Self::Fair => "small runs behind a wide map: how long they take, and what that costs",
            Self::Jobs => {
                "jobs that do nothing, and as many tasks of a map, drained by the same worker"
            }
            Self::JobSubmit => "jobs submitted one by one, and in batches, by eight callers",
            Self::JobCycle => {
                "jobs claimed, finished and submitted by eight callers, with few and with many in line"
            }
            Self::JobEmpty => {
                "claims of eight callers that come back empty although there are jobs"
            }
            Self::JobJoin => "jobs that one other waits for, and their ends",
            Self::Pipelines => {
                "messages one by one, behind a full resource and in batches, and as many tasks of a map"
            }
            Self::Append => {
                "chunks appended to streams in groups of 20, by one writer and by eight"
            }
            Self::Readers => "how long from an append to all of many readers, and what they cost",
            Self::Signal => "how long from signal() to the handler of the next step",
            Self::Sleep => "how late a step that slept goes on",
        }
    }
}
