//! What can be wrong with a backend, as seen from outside.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Any attempt may settle a task.
    NoFence,
    ReleaseBurnsAnAttempt,
    NoBackoff,
    IgnoresRetryAfter,
    FatalIsRetried,
    OneMoreAttempt,
    NoStartDelay,
    /// A step's own timeout does not count.
    FlowTimeoutOnly,
    /// Skipping with all that follows skips one step.
    NoCascade,
    NoConditions,
    /// A number is missing.
    EventGap,
    /// The last two of a page change places.
    EventsOutOfOrder,
    /// Every page of events is the first.
    NoCursor,
    /// A claim returns what the claim before it got.
    TwoGetOneTask,
    MoreThanAsked,
    NoQuotas,
    /// A settle claims nothing.
    ForgetsToClaim,
    OutcomesInAnyOrder,
    /// What was settled can be settled again, by its word.
    SettlesTwice,
    /// A settle is confirmed and not written.
    LosesSettles,
    BeatsAlwaysExtend,
    NeverSweeps,
    /// What was lost cannot be had on the trip that found it.
    ClaimsBeforeItSweeps,
    /// What a worker does not know of stays with it: the answer to a claim may be lost for good.
    KeepsUnknown,
    /// What it does know of is given back too.
    ReleasesKnown,
    /// An attempt is used up by a claim whose answer got lost.
    UnknownBurnsAnAttempt,
    CancelsNothing,
    RetriesNothing,
    EveryStartIsNew,
    UnknownFlowIsFine,
    /// Integers become floating-point numbers.
    RoundsNumbers,
    /// The output of a map is turned around.
    OutputsInAnyOrder,
    /// Every page of a list is the first.
    OnePageForAll,
    /// Any graph is the same.
    NoConflicts,
    /// What is sent before somebody waits for it is gone when somebody does.
    LosesKeptSignals,
    /// Each signal is another one.
    IgnoresResumeIds,
    /// Whatever comes with a resume id that was used is said to have come before.
    NoSignalConflicts,
    /// Nobody is told that a moment has come, or that what nobody waits for goes on.
    NeverWakes,
    /// Chunks are numbered by the page that they are read in.
    RenumbersChunks,
    /// What is sent again is there again.
    AppendsAgain,
    /// What is appended after the end is lost without a word.
    AppendsAfterTheEnd,
    /// What was found out about an older schedule counts.
    IgnoresRevisions,
    /// Nobody learns that moments started no run.
    HidesSkippedMoments,
}
