//! The table of metrics in the documentation.

use std::collections::BTreeMap;

/// What any worker counts.
pub(crate) const RUNTIME: &str = include_str!("../../../../docs/runtime.md");

/// And one that has pipelines.
pub(crate) const PIPELINES: &str = include_str!("../../../../docs/pipelines.md");

/// What the documentation says about a metric.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Metric {
    pub(crate) kind: String,
    pub(crate) labels: Vec<String>,
    /// What the last label can be, if that is listed.
    pub(crate) values: Vec<String>,
}

/// By name.
pub(crate) fn metrics(text: &str) -> BTreeMap<String, Metric> {
    text.lines().filter(|line| line.starts_with("| `pgflow_")).map(metric).collect()
}

/// ``| `name` | counter | `flow`, `outcome`: completed, failed |``
fn metric(line: &str) -> (String, Metric) {
    let columns: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
    let [name, kind, labels] = columns[..] else { panic!("three columns: {line}") };
    let (labels, values) = labels.split_once(':').unwrap_or((labels, ""));
    let words = |text: &str| -> Vec<String> {
        let words = text.split(',').map(|word| word.trim().trim_matches('`').to_owned());
        words.filter(|word| !word.is_empty()).collect()
    };
    let metric = Metric { kind: kind.to_owned(), labels: words(labels), values: words(values) };
    (name.trim_matches('`').to_owned(), metric)
}
