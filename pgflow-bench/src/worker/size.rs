//! How much of everything each mode does.

use std::time::Duration;

use serde::Serialize;

use crate::size::Mode;

/// The figures behind a mode.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct WorkerSizes {
    pub(crate) noop_runs: u32,
    /// Jobs, and tasks of a map beside them.
    pub(crate) jobs: u32,
    /// Jobs in line, in ascending order.
    pub(crate) live_jobs: &'static [u32],
    /// How many jobs one other waits for, in ascending order.
    pub(crate) joins: &'static [u32],
    /// Messages whose batch keys are scattered, in ascending order, and how many keys there are.
    pub(crate) scattered: &'static [u32],
    pub(crate) keys: u32,
    /// Messages in front that cannot be had.
    pub(crate) in_front: u32,
    pub(crate) chain_runs: u32,
    pub(crate) diamond_runs: u32,
    pub(crate) map_widths: &'static [u32],
    /// Starts and chains that are timed one by one.
    pub(crate) latencies: u32,
    /// Chunks that each way of writing appends.
    pub(crate) chunks: u32,
    /// Readers of one stream.
    pub(crate) readers: u32,
    /// Until a worker counts as idle: connections that have nothing more to do tell the server's statistics
    /// about their last transactions only after ten seconds.
    pub(crate) settle_down: Duration,
    /// How long an idle worker is watched.
    pub(crate) idle: Duration,
    /// A drain that takes longer is cut off and counted as far as it came.
    pub(crate) window: Duration,
    /// How long each control runs.
    pub(crate) control: Duration,
}

impl WorkerSizes {
    pub(crate) fn of(mode: Mode) -> Self {
        match mode {
            Mode::Smoke => Self {
                noop_runs: 30,
                jobs: 200,
                live_jobs: &[100, 400],
                joins: &[50, 100],
                scattered: &[200, 400],
                keys: 20,
                in_front: 100,
                chain_runs: 10,
                diamond_runs: 10,
                map_widths: &[200],
                latencies: 5,
                chunks: 400,
                readers: 20,
                settle_down: Duration::from_secs(1),
                idle: Duration::from_secs(1),
                window: Duration::from_secs(20),
                control: Duration::from_millis(100),
            },
            Mode::Short => Self {
                noop_runs: 1_000,
                jobs: 5_000,
                live_jobs: &[2_000, 20_000],
                joins: &[1_000, 10_000],
                scattered: &[2_000, 20_000],
                keys: 2_000,
                in_front: 500,
                chain_runs: 300,
                diamond_runs: 300,
                map_widths: &[1_000, 10_000],
                latencies: 40,
                chunks: 10_000,
                readers: 200,
                settle_down: Duration::from_secs(12),
                idle: Duration::from_secs(5),
                window: Duration::from_secs(10),
                control: Duration::from_millis(300),
            },
            // A wide map takes a while on every database.
            Mode::Long => Self {
                map_widths: &[1_000, 10_000, 100_000],
                live_jobs: &[2_000, 200_000, 1_000_000],
                scattered: &[10_000, 100_000, 1_000_000],
                in_front: 100_000,
                window: Duration::from_mins(5),
                ..Self::of(Mode::Normal)
            },
            Mode::Normal => Self {
                noop_runs: 5_000,
                jobs: 10_000,
                live_jobs: &[2_000, 200_000],
                joins: &[1_000, 10_000],
                scattered: &[10_000, 100_000],
                keys: 10_000,
                in_front: 500,
                chain_runs: 2_000,
                diamond_runs: 1_500,
                map_widths: &[1_000, 10_000],
                latencies: 200,
                chunks: 40_000,
                readers: 1_000,
                settle_down: Duration::from_secs(12),
                idle: Duration::from_secs(15),
                window: Duration::from_secs(30),
                control: Duration::from_secs(1),
            },
        }
    }
}
