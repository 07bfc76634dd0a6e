//! What can be asked of a backend, with runs by number.

use std::fmt;
use std::time::Duration;

use pgflow_machine::{Retry, Until, Verdict};
use serde_json::Value;

/// Runs of a sequence.
pub(super) const RUNS: usize = 3;

#[derive(Clone, Debug)]
pub(super) enum Command {
    Start {
        run: usize,
        input: Value,
    },
    /// All there is, of all steps but one.
    Claim {
        without: Option<String>,
    },
    Settle {
        items: Vec<(Attempt, Verdict)>,
        claim: bool,
    },
    Heartbeat(Vec<Attempt>),
    /// Seconds. They make the sum of any advances differ from any sum of timeouts and delays by more than the time that
    /// a slow database takes for a sequence, and more than the grace of a lease; see [`draw`](super::draw).
    Advance(u64),
    Sweep,
    SweepAndClaim,
    /// All that was claimed is given back, except these.
    ReleaseUnknown {
        known: Vec<Attempt>,
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
            Self::Start { run, input } => write!(f, "start(run {run}, json!({input}))"),
            Self::Claim { without: None } => f.write_str("claim_all()"),
            Self::Claim { without: Some(step) } => write!(f, "claim_all_but(\"{step}\")"),
            Self::Settle { items, claim } => {
                let item = |(attempt, verdict): &(_, _)| format!("{attempt} => {}", text(verdict));
                let items: Vec<_> = items.iter().map(item).collect();
                let function = if *claim { "settle_and_claim" } else { "settle" };
                write!(f, "{function}([{}])", items.join(", "))
            }
            Self::Heartbeat(attempts) => write!(f, "heartbeat([{}])", list(attempts)),
            Self::ReleaseUnknown { known } => write!(f, "release_unknown([{}])", list(known)),
            Self::Advance(seconds) => write!(f, "advance({seconds})"),
            Self::Sweep => f.write_str("sweep()"),
            Self::SweepAndClaim => f.write_str("sweep_and_claim()"),
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
        Verdict::Completed(output) => format!("completed(json!({output}))"),
        Verdict::Failed { error, retry: Retry::ByPolicy } => format!("failed({error:?})"),
        Verdict::Failed { error, retry: Retry::Never } => format!("fatal({error:?})"),
        Verdict::Failed { error, retry: Retry::After(delay) } => later(error, *delay),
        Verdict::Released => "released()".into(),
        Verdict::Yielded { until: Until::After(after), reason } => {
            format!("yielded({reason:?}, {after:?})")
        }
        Verdict::Job(end) => format!("{end:?}"),
    }
}

fn later(error: &str, delay: Duration) -> String {
    format!("later({error:?}, {delay:?})")
}
