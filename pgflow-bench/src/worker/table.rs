//! The results for people, as a Markdown table.

use comfy_table::{Table, presets::ASCII_MARKDOWN};

use super::Findings;
use super::summary::Summary;
use crate::summary::{median, spread};

const HEADER: [&str; 11] = [
    "database",
    "case",
    "phase",
    "items",
    "per s",
    "÷ INSERT",
    "p50 ms",
    "p99 ms",
    "own CPU ms",
    "server CPU ms",
    "spread",
];

/// Prints everything to standard output.
pub(crate) fn print(findings: &Findings) {
    let mut table = Table::new();
    table.load_preset(ASCII_MARKDOWN).set_header(HEADER);
    for summary in &findings.summary {
        table.add_row(row(summary));
    }
    println!("Workers (medians over the rounds, CPU per item)\n\n{table}\n");
    for database in ["postgres", "sqlite", "mysql"] {
        if let Some(line) = noise(findings, database) {
            println!("{line}");
        }
    }
    println!();
}

fn row(summary: &Summary) -> [String; 11] {
    let known = |value: Option<f64>, digits: usize| {
        value.map_or_else(String::new, |v| format!("{v:.digits$}"))
    };
    [
        summary.database.to_owned(),
        summary.case.to_owned(),
        [summary.phase, &summary.level].join(" ").trim_end().to_owned(),
        format!("{} {}s", summary.items, summary.unit),
        if summary.per_second < 10.0 {
            format!("{:.2}", summary.per_second)
        } else {
            format!("{:.0}", summary.per_second)
        },
        format!("{:.2}", summary.to_insert),
        known(summary.times.map(|times| times.p50_ms), 2),
        known(summary.times.map(|times| times.p99_ms), 2),
        known(summary.own_cpu_ms, 3),
        known(summary.server_cpu_ms, 3),
        format!("{:.0} %", summary.spread * 100.0),
    ]
}

/// How much the control itself varied, and under which load.
fn noise(findings: &Findings, database: &str) -> Option<String> {
    let samples = || findings.rounds.iter().filter(|sample| sample.database == database);
    let rates: Vec<f64> = samples().map(|sample| sample.insert_per_second).collect();
    let (first, last) = (samples().next()?, samples().next_back()?);
    Some(format!(
        "Noise: on {database} the INSERT control ran {:.0}/s (median) with a spread of {:.0} %; load {} to {}.",
        median(rates.clone()),
        spread(&rates) * 100.0,
        first.load,
        last.load
    ))
}
