//! What a run found, as tables and as JSON.

mod compare;
mod json;
mod table;

use serde::Serialize;

use crate::args::Args;
use crate::environment::{Machine, ServerFacts};
use crate::flatness::{Flatness, flatness};
use crate::goals::{Goal, goals};
use crate::sample::Sample;
use crate::size::{Mode, Sizes};
use crate::summary::{Summary, summarize};
use crate::worker;

pub(crate) use json::write;
pub(crate) use table::print;

/// Everything there is to say.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) version: &'static str,
    pub(crate) mode: Mode,
    pub(crate) seed: u64,
    pub(crate) connections: u32,
    pub(crate) batch: u32,
    pub(crate) sizes: Sizes,
    pub(crate) seconds: f64,
    pub(crate) machine: Machine,
    pub(crate) servers: Vec<ServerFacts>,
    pub(crate) goals: Vec<Goal>,
    pub(crate) flatness: Vec<Flatness>,
    pub(crate) summary: Vec<Summary>,
    /// Every round as it was measured.
    pub(crate) rounds: Vec<Sample>,
    /// The cases that went through a worker, if there were any.
    pub(crate) worker: Option<worker::Findings>,
}

/// The parts of a report that are worked out from the samples.
pub(crate) struct Findings {
    pub(crate) goals: Vec<Goal>,
    pub(crate) flatness: Vec<Flatness>,
    pub(crate) summary: Vec<Summary>,
}

impl Findings {
    pub(crate) fn of(samples: &[Sample]) -> Self {
        let summary = summarize(samples);
        let flatness = flatness(&summary);
        Self { goals: goals(&summary, &flatness), flatness, summary }
    }
}

impl Report {
    pub(crate) fn of(
        args: &Args,
        machine: Machine,
        mut servers: Vec<ServerFacts>,
        rounds: Vec<Sample>,
        mut worker: Option<worker::Findings>,
    ) -> Self {
        let Findings { mut goals, flatness, summary } = Findings::of(&rounds);
        if let Some(worker) = &mut worker {
            goals.append(&mut worker.goals);
            servers.extend(worker.server.take().filter(|_| servers.is_empty()));
        }
        Self {
            version: env!("CARGO_PKG_VERSION"),
            mode: args.size.mode(),
            seed: args.seed,
            connections: args.connections,
            batch: args.batch,
            sizes: args.sizes(),
            seconds: 0.0,
            machine,
            servers,
            goals,
            flatness,
            summary,
            rounds,
            worker,
        }
    }

    pub(crate) fn misses_a_goal(&self) -> bool {
        self.goals.iter().any(|goal| goal.is_reached == Some(false))
    }
}
