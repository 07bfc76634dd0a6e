//! How long a command takes, and how much of the processor.

use std::process::Command;
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use serde::Serialize;

/// One measurement, in milliseconds.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Cost {
    pub(crate) cpu: f64,
    pub(crate) wall: f64,
}

impl Cost {
    /// Runs a command that must succeed.
    pub(crate) fn of(command: &mut Command) -> Self {
        let (before, start) = (children(), Instant::now());
        let status = command.status().expect("cargo can be started");
        assert!(status.success(), "{command:?} failed");
        let wall = start.elapsed();
        Self { cpu: milliseconds(children().saturating_sub(before)), wall: milliseconds(wall) }
    }

    /// The middle of several, each figure for itself.
    pub(crate) fn median(costs: &[Self]) -> Self {
        Self {
            cpu: middle(costs.iter().map(|cost| cost.cpu)),
            wall: middle(costs.iter().map(|cost| cost.wall)),
        }
    }
}

/// Processor time of all finished children: cargo, and what it started.
fn children() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("the system counts processor time");
    let used = usage.user_time() + usage.system_time();
    Duration::from_micros(u64::try_from(used.num_microseconds()).unwrap_or_default())
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn middle(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let upper = values[values.len() / 2];
    let lower = values[(values.len() - 1) / 2];
    f64::midpoint(lower, upper)
}
