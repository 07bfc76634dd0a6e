//! What can be asked of a backend, with runs by number.

use std::fmt;
use std::time::Duration;

use pgflow_machine::{Retry, Until, Verdict};
use serde_json::Value;

/// Runs of a sequence, each of a version of its own: the first two of one flow, the third of another.
pub(super) const RUNS: usize = 3;

/// Workers of a sequence.
pub(super) const WORKERS: usize = 2;

#[derive(Clone, Debug)]
pub(super) enum Command {
    Start {
        run: usize,
        input: Value,
    },
    Claim(Ask),
    Settle {
        items: Vec<(Attempt, Verdict)>,
        claim: Option<Ask>,
    },
    /// A step that shares a transaction with its completion.
    Commit {
        attempt: Attempt,
        output: Value,
    },
    /// Such a transaction that is given up.
    Drop(Attempt),
    Heartbeat(Vec<Attempt>),
    /// Seconds. They make the sum of any advances differ from any sum of timeouts and delays by more than the time that
    /// a slow database takes for a sequence, and more than the grace of a lease; see [`draw`](super::draw).
    Advance(u64),
    Sweep,
    SweepAndClaim(Ask),
    /// All that a worker has claimed is given back, except these.
    ReleaseUnknown {
        worker: usize,
        known: Vec<Attempt>,
    },
    /// To a task, or to one of a few tokens; resume ids are used again.
    Signal {
        to: To,
        resume_id: Option<usize>,
        payload: Value,
    },
    /// All children that can be had are taken, and those of this parity end; the others are given back. Without a verdict
    /// all are kept, until their leases are over.
    Children {
        odd: bool,
        verdict: Option<Verdict>,
    },
    Cancel {
        run: usize,
    },
    Retry {
        run: usize,
    },
    /// Compares states and logs.
    Look,
}

/// Where a signal goes.
#[derive(Clone, Debug)]
pub(super) enum To {
    /// The task of this attempt.
    Task(Attempt),
    /// The token of this number.
    Token(usize),
}

/// Tokens of a sequence.
pub(super) const TOKENS: usize = 3;

/// All there is of some versions, of all steps but one.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    pub(super) worker: usize,
    /// Versions, by the run that they are of.
    pub(super) queues: Vec<usize>,
    pub(super) without: Option<String>,
    /// In claims of so many, until nothing is left. What comes first may differ, what comes in the end may not.
    pub(super) portion: Option<u32>,
}

impl fmt::Display for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { worker, queues, without, portion } = self;
        write!(f, "worker {worker}, {queues:?}")?;
        without.iter().try_for_each(|step| write!(f, ", but \"{step}\""))?;
        portion.iter().try_for_each(|most| write!(f, ", by {most}"))
    }
}

/// A claim of a task, whether or not there ever was one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Attempt {
    pub(super) run: usize,
    pub(super) step: String,
    pub(super) index: u32,
    pub(super) number: u32,
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { run, step, index, number } = self;
        write!(f, "attempt(run {run}, \"{step}\", {index}, {number})")
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start { run, input } => {
                write!(f, "start(run {run}, json!({}))", short_json(input))
            }
            Self::Claim(ask) => write!(f, "claim({ask})"),
            Self::Settle { items, claim } => {
                let item = |(attempt, verdict): &(_, _)| format!("{attempt} => {}", text(verdict));
                let items: Vec<_> = items.iter().map(item).collect();
                write!(f, "settle([{}])", items.join(", "))?;
                claim.iter().try_for_each(|ask| write!(f, ".then_claim({ask})"))
            }
            Self::Commit { attempt, output } => {
                write!(f, "commit({attempt}, json!({}))", short_json(output))
            }
            Self::Drop(attempt) => write!(f, "drop_transaction({attempt})"),
            Self::Heartbeat(attempts) => write!(f, "heartbeat([{}])", list(attempts)),
            Self::ReleaseUnknown { worker, known } => {
                write!(f, "release_unknown(worker {worker}, [{}])", list(known))
            }
            Self::Signal { to, resume_id, payload } => {
                write!(f, "signal({to:?}, {resume_id:?}, json!({}))", short_json(payload))
            }
            Self::Advance(seconds) => write!(f, "advance({seconds})"),
            Self::Sweep => f.write_str("sweep()"),
            Self::SweepAndClaim(ask) => write!(f, "sweep_and_claim({ask})"),
            Self::Children { odd, verdict } => {
                let verdict = verdict.as_ref().map_or_else(|| "kept()".to_owned(), text);
                write!(f, "children({} => {verdict})", if *odd { "odd" } else { "even" })
            }
            Self::Cancel { run } => write!(f, "cancel(run {run})"),
            Self::Retry { run } => write!(f, "retry(run {run})"),
            Self::Look => f.write_str("look()"),
        }
    }
}

fn list(attempts: &[Attempt]) -> String {
    let attempts: Vec<_> = attempts.iter().map(ToString::to_string).collect();
    attempts.join(", ")
}

fn text(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Completed(output) => format!("completed(json!({}))", short_json(output)),
        Verdict::Failed { error, retry: Retry::ByPolicy } => format!("failed({})", short(error)),
        Verdict::Failed { error, retry: Retry::Never } => format!("fatal({})", short(error)),
        Verdict::Failed { error, retry: Retry::After(delay) } => later(error, *delay),
        Verdict::Released => "released()".into(),
        Verdict::Yielded { until: Until::After(after), reason } => {
            format!("yielded({reason:?}, {after:?})")
        }
        Verdict::Yielded { until: Until::Met(wait), .. } => format!("waits({wait:?})"),
        Verdict::Job(end) => format!("{end:?}"),
        Verdict::Messages(ends) => format!("{ends:?}"),
    }
}

fn later(error: &str, delay: Duration) -> String {
    format!("later({}, {delay:?})", short(error))
}

/// A value that may have very many elements.
fn short_json(value: &Value) -> String {
    match value {
        Value::Array(elements) if elements.len() > 100 => {
            format!("[{}; {}]", elements[0], elements.len())
        }
        value => value.to_string(),
    }
}

/// A text that may be very long.
fn short(text: &str) -> String {
    let start: String = text.chars().take(20).collect();
    if start.len() < text.len() {
        format!("{start:?}… of {} characters", text.chars().count())
    } else {
        format!("{start:?}")
    }
}
