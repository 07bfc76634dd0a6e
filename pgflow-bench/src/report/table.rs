//! The report for people. Tables are Markdown, to be pasted as they are.

use comfy_table::{Table, presets::ASCII_MARKDOWN};

use super::{Report, compare};
use crate::environment::ServerFacts;
use crate::summary::{Summary, median, spread};
use crate::worker;

/// Prints everything to standard output.
pub(crate) fn print(report: &Report) {
    println!("{}\n", heading(report));
    if !report.summary.is_empty() {
        println!("Results (medians over the rounds)\n\n{}\n", results(&report.summary));
    }
    if !report.flatness.is_empty() {
        println!("Flatness: ms per task, largest over smallest\n\n{}\n", flat(report));
    }
    if let Some(table) = compare::table(&report.summary) {
        println!("Cores compared in this run\n\n{table}\n");
    }
    if let Some(findings) = &report.worker {
        worker::print(findings);
    }
    if !report.goals.is_empty() {
        println!("Targets\n\n{}\n", goals(report));
    }
    if !report.rounds.is_empty() {
        println!("{}", noise(report));
    }
}

fn new_table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_preset(ASCII_MARKDOWN).set_header(header);
    table
}

fn heading(report: &Report) -> String {
    let machine = &report.machine;
    let mut lines = vec![format!(
        "pgflow-bench {}, {} CPUs ({}), Linux {}, load {} at the start, {} connections, seed {}",
        report.version,
        machine.cpus,
        machine.model,
        machine.kernel,
        machine.load,
        report.connections,
        report.seed
    )];
    lines.extend(report.servers.iter().map(server_line));
    lines.join("\n")
}

fn server_line(server: &ServerFacts) -> String {
    let settings: Vec<String> =
        server.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let cpu = if server.sees_cpu { "" } else { "; not on this machine, so no CPU figures" };
    let images = server.page_images_by;
    format!(
        "{}: Postgres {}, {}; page images by {images}{cpu}",
        server.target,
        server.version,
        settings.join(" ")
    )
}

fn results(summaries: &[Summary]) -> Table {
    let header = [
        "case",
        "phase",
        "core",
        "protocol",
        "items",
        "per s",
        "÷ INSERT",
        "ms",
        "CPU ms",
        "CPU ÷ INSERT",
        "WAL B",
        "WAL B, no images",
        "spread",
    ];
    let mut table = new_table(&header);
    for summary in summaries {
        table.add_row(vec![
            summary.case.to_owned(),
            format!("{} {}", summary.phase, summary.level),
            summary.target.clone(),
            protocol(summary),
            format!("{} {}s", summary.items, summary.unit),
            format!("{:.0}", summary.per_second),
            format!("{:.2}", summary.to_insert),
            format!("{:.3}", summary.wall_ms),
            or_unknown(summary.cpu_ms, 3),
            or_unknown(summary.cpu_to_insert, 2),
            format!("{:.0}", summary.wal_bytes),
            or_unknown(summary.wal_bytes_without_images, 0),
            format!("{:.0} %", summary.spread * 100.0),
        ]);
    }
    table
}

/// How it was driven, and how many tasks at a time.
fn protocol(summary: &Summary) -> String {
    let name = summary.protocol.map_or("", |protocol| protocol.name());
    summary.batch.map_or_else(|| name.to_owned(), |batch| format!("{name} by {batch}"))
}

fn flat(report: &Report) -> Table {
    let mut table =
        new_table(&["case", "phase", "core", "levels", "max ÷ min", "target", "growth"]);
    for flat in &report.flatness {
        let levels: Vec<String> =
            flat.levels.iter().map(|(level, cost)| format!("{level}: {cost:.4}")).collect();
        let target = if flat.counts { "≤ 1.5" } else { "none" };
        table.add_row([
            flat.case,
            flat.phase,
            &flat.target,
            &levels.join("; "),
            &format!("{:.2}", flat.ratio),
            target,
            &format!("{:.2}", flat.growth),
        ]);
    }
    table
}

fn goals(report: &Report) -> Table {
    let mut table =
        new_table(&["what", "measured", "others, measured earlier", "target", "reached"]);
    for goal in &report.goals {
        let reached = match goal.is_reached {
            Some(true) => "yes",
            Some(false) => "NO",
            None => "",
        };
        table.add_row([&goal.what, &goal.measured, &goal.reference, goal.target, reached]);
    }
    table
}

/// How much the same INSERT varied: no figure above is more exact than that.
fn noise(report: &Report) -> String {
    let rates: Vec<f64> = report.rounds.iter().map(|sample| sample.insert_per_second).collect();
    format!(
        "Noise: the INSERT control ran {:.0}/s (median) with a spread of {:.0} % over this run of {:.0} s.",
        median(rates.clone()),
        spread(&rates) * 100.0,
        report.seconds
    )
}

fn or_unknown(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "?".to_owned(), |value| format!("{value:.digits$}"))
}
