//! The command line.

use std::fmt;
use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use serde::Serialize;

/// Measures `cargo check` of flows with 10, 100 and 500 steps against the same plain functions.
///
/// Two situations: one body edited in an incremental build, as while programming; and the crate alone
/// from scratch, without incremental compilation. Dependencies are always built already. CPU time is
/// the figure to trust on a busy machine.
#[derive(Debug, Parser)]
pub(crate) struct Args {
    /// Fewer rounds and no 500: to see that it works, not for publication.
    #[arg(long)]
    pub(crate) quick: bool,

    /// Rounds per figure; the median is shown.
    #[arg(long)]
    rounds: Option<usize>,

    /// How the steps hang together: one shape, or several with `,` between them.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "chain")]
    shape: Vec<Shape>,

    /// Every shape, one after the other.
    #[arg(long, conflicts_with = "shape")]
    every_shape: bool,

    /// Also write all figures to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    /// Fail when a step costs more than 2 ms, or the cost does not grow linearly.
    #[arg(long)]
    pub(crate) check: bool,
}

/// The graph that is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Shape {
    /// Each step after the one before it and one far back; every tenth is a map.
    Chain,
    /// Every step after the first alone, so that nearly all are outputs of the flow.
    Wide,
    /// Lists, maps over them and what gathers them, one after another.
    Maps,
    /// Every step after the five before it.
    FanIn,
    /// Every step with a condition on the output of the one before it.
    Conditions,
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.to_possible_value();
        f.write_str(value.as_ref().map_or("", |value| value.get_name()))
    }
}

impl Args {
    pub(crate) fn shapes(&self) -> &[Shape] {
        if self.every_shape { Shape::value_variants() } else { &self.shape }
    }

    pub(crate) fn sizes(&self) -> &'static [usize] {
        if self.quick { &[10, 100] } else { &[10, 100, 500] }
    }

    pub(crate) fn rounds(&self) -> usize {
        self.rounds.unwrap_or(if self.quick { 3 } else { 7 }).max(1)
    }
}
