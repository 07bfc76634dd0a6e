//! The figures, and what follows from them.

use serde::Serialize;

use crate::args::{Args, Shape};
use crate::generate::Kind;
use crate::measure::Cost;
use crate::workspace::Workspace;

/// The most a step may cost over its plain function, in milliseconds of processor time.
const MOST_PER_STEP: f64 = 2.0;
/// The steepest growth that still counts as linear; quadratic would be 2.
const STEEPEST: f64 = 1.25;

/// Everything that was measured.
#[derive(Debug, Serialize)]
pub(crate) struct Figures {
    pub(crate) shape: Shape,
    pub(crate) rounds: usize,
    pub(crate) situations: Vec<Situation>,
}

/// One way to compile, for all sizes.
#[derive(Debug, Serialize)]
pub(crate) struct Situation {
    pub(crate) name: &'static str,
    pub(crate) rows: Vec<Row>,
    /// Exponent of the growth of the cost over plain functions between the two largest sizes:
    /// 1 is linear, 2 quadratic.
    pub(crate) growth: f64,
}

/// One size.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) steps: usize,
    pub(crate) plain: Cost,
    pub(crate) flow: Cost,
    pub(crate) ratio: f64,
    pub(crate) cpu_per_step: f64,
    pub(crate) wall_per_step: f64,
}

impl Figures {
    /// Measures all sizes, first while editing, then from scratch.
    pub(crate) fn measure(workspace: &Workspace, args: &Args) -> Self {
        let rounds = args.rounds();
        let editing = Situation::measure("one body edited, incremental", workspace, rounds, true);
        let scratch = Situation::measure("crate from scratch", workspace, rounds, false);
        Self { shape: workspace.shape, rounds, situations: vec![editing, scratch] }
    }

    /// What is slower than we promise, if anything.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let steep = self.situations.iter().filter(|situation| situation.growth > STEEPEST);
        let steep = steep.map(|it| format!("{}: grows with power {:.2}", it.name, it.growth));
        let largest = self.situations.iter().filter_map(|it| Some((it.name, it.rows.last()?)));
        let dear = largest.filter(|(_, row)| row.cpu_per_step > MOST_PER_STEP);
        let dear = dear.map(|(name, row)| format!("{name}: {:.2} ms per step", row.cpu_per_step));
        steep.chain(dear).map(|it| format!("{}: {it}", self.shape)).collect()
    }
}

impl Situation {
    fn measure(name: &'static str, on: &Workspace, rounds: usize, incremental: bool) -> Self {
        let mut costs: Vec<Vec<Cost>> = on.crates().map(|_| Vec::new()).collect();
        // Rounds go over all crates, so that a busy minute does not fall on one alone. The first
        // builds the dependencies and is not counted.
        for round in 0..=rounds {
            for ((kind, size), costs) in on.crates().zip(&mut costs) {
                on.edit(kind, size, round + 1);
                let cost = Cost::of(&mut on.check(kind, size, incremental));
                costs.extend((round > 0).then_some(cost));
            }
            eprintln!("{name}: round {round} of {rounds}");
        }
        let medians = on.crates().zip(costs.iter().map(|costs| Cost::median(costs)));
        let medians: Vec<_> = medians.map(|((kind, size), cost)| (kind, size, cost)).collect();
        let rows: Vec<_> = on.sizes.iter().map(|size| Row::new(*size, &medians)).collect();
        let growth = growth(&rows);
        Self { name, rows, growth }
    }
}

impl Row {
    fn new(steps: usize, medians: &[(Kind, usize, Cost)]) -> Self {
        let find = |kind| {
            let found = medians.iter().find(|it| it.0 == kind && it.1 == steps);
            found.expect("every kind and size is measured").2
        };
        let (plain, flow) = (find(Kind::Plain), find(Kind::Flow));
        Self {
            steps,
            plain,
            flow,
            ratio: flow.cpu / plain.cpu,
            cpu_per_step: (flow.cpu - plain.cpu) / to_f64(steps),
            wall_per_step: (flow.wall - plain.wall) / to_f64(steps),
        }
    }
}

fn growth(rows: &[Row]) -> f64 {
    let [.., smaller, larger] = rows else { return f64::NAN };
    let cost = |row: &Row| (row.flow.cpu - row.plain.cpu).max(1.0);
    (cost(larger) / cost(smaller)).ln() / (to_f64(larger.steps) / to_f64(smaller.steps)).ln()
}

fn to_f64(steps: usize) -> f64 {
    u32::try_from(steps).map_or(f64::NAN, f64::from)
}
