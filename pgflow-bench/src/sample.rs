//! One measured figure, and where it comes from.

use serde::Serialize;

use crate::args::Protocol;
use crate::meter::Cost;

/// What a case measured in one phase.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Reading {
    pub(crate) phase: &'static str,
    /// What the case varies: a width, a backlog, a batch size; empty where it varies nothing.
    pub(crate) level: String,
    /// What is counted: task, run, call, row or message.
    pub(crate) unit: &'static str,
    pub(crate) items: u32,
    pub(crate) cost: Cost,
}

impl Reading {
    pub(crate) fn new(phase: &'static str, unit: &'static str, items: u32, cost: Cost) -> Self {
        Self { phase, level: String::new(), unit, items, cost }
    }

    pub(crate) fn at(self, level: impl Into<String>) -> Self {
        Self { level: level.into(), ..self }
    }

    pub(crate) fn per_second(&self) -> f64 {
        f64::from(self.items) / self.cost.wall_s.max(1e-9)
    }

    pub(crate) fn wall_ms(&self) -> f64 {
        self.cost.wall_s * 1e3 / self.count()
    }

    pub(crate) fn cpu_ms(&self) -> Option<f64> {
        self.cost.cpu_s.map(|seconds| seconds * 1e3 / self.count())
    }

    pub(crate) fn wal_bytes(&self) -> f64 {
        self.cost.wal.bytes / self.count()
    }

    pub(crate) fn wal_bytes_without_images(&self) -> Option<f64> {
        self.cost.wal.without_images().map(|bytes| bytes / self.count())
    }

    fn count(&self) -> f64 {
        f64::from(self.items.max(1))
    }
}

/// A reading with its place in the run.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Sample {
    pub(crate) case: &'static str,
    pub(crate) target: String,
    pub(crate) protocol: Option<Protocol>,
    pub(crate) round: u32,
    /// Tasks per claim and settle, where that is one number.
    pub(crate) batch: Option<u32>,
    /// The INSERT control of the same round on the same server, rows per second.
    pub(crate) insert_per_second: f64,
    /// Server CPU per row of that control.
    pub(crate) insert_cpu_ms: Option<f64>,
    #[serde(flatten)]
    pub(crate) reading: Reading,
}
