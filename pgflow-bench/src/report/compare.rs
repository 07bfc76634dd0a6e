//! Our core beside others of the same run.

use comfy_table::{Table, presets::ASCII_MARKDOWN};

use crate::summary::Summary;
use crate::target::NATIVE;

/// None when only our core was measured.
pub(super) fn table(summaries: &[Summary]) -> Option<Table> {
    let mut table = Table::new();
    table.load_preset(ASCII_MARKDOWN);
    table.set_header(["case", "phase", "ours", "other", "rate ×", "CPU ÷", "WAL ÷ (no images)"]);
    for other in summaries.iter().filter(|summary| summary.target != NATIVE) {
        for ours in summaries.iter().filter(|ours| is_same_work(ours, other)) {
            table.add_row(row(ours, other));
        }
    }
    (table.row_count() > 0).then_some(table)
}

/// The same case, however driven: batches against one by one is part of the comparison.
fn is_same_work(ours: &Summary, other: &Summary) -> bool {
    ours.target == NATIVE
        && ours.case == other.case
        && ours.phase == other.phase
        && ours.level == other.level
}

fn row(ours: &Summary, other: &Summary) -> [String; 7] {
    let ratio = |a: Option<f64>, b: Option<f64>| {
        a.zip(b).map_or_else(|| "?".to_owned(), |(a, b)| format!("{:.1}", a / b.max(1e-9)))
    };
    [
        ours.case.to_owned(),
        format!("{} {}", ours.phase, ours.level),
        label(ours),
        label(other),
        ratio(Some(ours.per_second), Some(other.per_second)),
        ratio(other.cpu_ms, ours.cpu_ms),
        ratio(other.wal_bytes_without_images, ours.wal_bytes_without_images),
    ]
}

fn label(summary: &Summary) -> String {
    match summary.protocol {
        Some(protocol) => format!("{} {}", summary.target, protocol.name()),
        None => summary.target.clone(),
    }
}
