//! How much of everything each mode does.

use std::time::Duration;

use serde::Serialize;

/// The four sizes of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Mode {
    Smoke,
    Short,
    Normal,
    Long,
}

/// The figures behind a mode.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Sizes {
    pub(crate) rounds: u32,
    /// How long each control runs.
    pub(crate) control: Duration,
    /// A drain that takes longer is cut off and counted as far as it came.
    pub(crate) window: Duration,
    pub(crate) single_runs: u32,
    pub(crate) diamond_runs: u32,
    pub(crate) map_widths: &'static [u32],
    /// One by one, wider maps only repeat the same figure for minutes.
    pub(crate) widest_published: u32,
    pub(crate) start_calls: u32,
    pub(crate) start_width: u32,
    /// Tasks measured at each width: narrow maps are repeated to reach it.
    pub(crate) width_tasks: u32,
    pub(crate) widths: &'static [u32],
    pub(crate) history_runs: u32,
    pub(crate) waiting: u32,
    pub(crate) waiting_probe: u32,
    pub(crate) batch_tasks: u32,
    pub(crate) batches: &'static [u32],
    /// Tasks of the maps whose outputs are put together.
    pub(crate) output_widths: &'static [u32],
    /// Jobs that a case about jobs moves.
    pub(crate) jobs: u32,
    /// How many are in line meanwhile.
    pub(crate) live_jobs: &'static [u32],
    /// How many jobs one other waits for.
    pub(crate) joins: &'static [u32],
}

impl Mode {
    pub(crate) fn sizes(self) -> Sizes {
        match self {
            Self::Smoke => smoke(),
            Self::Short => short(),
            Self::Normal => normal(),
            Self::Long => long(),
        }
    }
}

fn smoke() -> Sizes {
    Sizes {
        rounds: 1,
        control: Duration::from_millis(100),
        window: Duration::from_secs(3),
        single_runs: 24,
        diamond_runs: 16,
        map_widths: &[100],
        widest_published: 100,
        start_calls: 16,
        start_width: 200,
        width_tasks: 200,
        widths: &[50, 200],
        history_runs: 100,
        waiting: 500,
        waiting_probe: 100,
        batch_tasks: 100,
        batches: &[1, 50],
        output_widths: &[100, 200],
        jobs: 200,
        live_jobs: &[100, 400],
        joins: &[50, 100],
    }
}

fn short() -> Sizes {
    Sizes {
        rounds: 1,
        control: Duration::from_millis(200),
        window: Duration::from_secs(1),
        single_runs: 300,
        diamond_runs: 150,
        map_widths: &[1_000, 10_000],
        widest_published: 1_000,
        start_calls: 100,
        start_width: 10_000,
        width_tasks: 3_000,
        widths: &[100, 1_000, 10_000],
        history_runs: 2_000,
        waiting: 5_000,
        waiting_probe: 1_000,
        batch_tasks: 500,
        batches: &[1, 10, 50, 200],
        output_widths: &[2_500, 25_000],
        jobs: 10_000,
        live_jobs: &[2_000, 50_000],
        joins: &[1_000, 10_000],
    }
}

fn normal() -> Sizes {
    Sizes {
        rounds: 3,
        control: Duration::from_secs(1),
        window: Duration::from_secs(15),
        single_runs: 2_000,
        diamond_runs: 1_000,
        map_widths: &[1_000, 10_000, 50_000],
        widest_published: 10_000,
        start_calls: 500,
        start_width: 10_000,
        width_tasks: 10_000,
        widths: &[100, 1_000, 10_000, 100_000],
        history_runs: 20_000,
        waiting: 100_000,
        waiting_probe: 5_000,
        batch_tasks: 5_000,
        batches: &[1, 10, 50, 200],
        output_widths: &[10_000, 50_000, 250_000],
        jobs: 50_000,
        live_jobs: &[2_000, 200_000],
        joins: &[1_000, 10_000],
    }
}

fn long() -> Sizes {
    Sizes {
        rounds: 5,
        control: Duration::from_secs(2),
        window: Duration::from_mins(1),
        map_widths: &[1_000, 10_000, 50_000, 100_000],
        history_runs: 1_000_000,
        batch_tasks: 10_000,
        live_jobs: &[2_000, 200_000, 1_000_000],
        ..normal()
    }
}
