//! The figures as a table for the README.

use std::fmt::Write as _;

use crate::figures::{Figures, Row};

/// Markdown, in milliseconds.
pub(crate) fn table(figures: &Figures) -> String {
    let Figures { shape, rounds, .. } = figures;
    let mut text = format!("{shape}: `cargo check`, median of {rounds} rounds, ms\n\n");
    text += "| | steps | plain CPU | flow CPU | ratio | CPU per step | plain wall | flow wall | wall per step |\n";
    text += "|---|--:|--:|--:|--:|--:|--:|--:|--:|\n";
    for situation in &figures.situations {
        situation.rows.iter().for_each(|row| text += &line(situation.name, row));
    }
    for situation in &figures.situations {
        let _ = write!(
            text,
            "\n{}: cost grows with the power {:.2} of the steps",
            situation.name, situation.growth
        );
    }
    text
}

fn line(situation: &str, row: &Row) -> String {
    format!(
        "| {situation} | {} | {:.0} | {:.0} | {:.2} | {:.2} | {:.0} | {:.0} | {:.2} |\n",
        row.steps,
        row.plain.cpu,
        row.flow.cpu,
        row.ratio,
        row.cpu_per_step,
        row.plain.wall,
        row.flow.wall,
        row.wall_per_step
    )
}
