//! Keeps every metric.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder,
    SharedString, Unit,
};

/// A metric with its labels.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) kind: &'static str,
    pub(crate) labels: BTreeMap<String, String>,
}

/// All of them with their sums, or what a gauge shows. Clones share everything.
#[derive(Clone, Default)]
pub(crate) struct Seen {
    sums: Arc<Mutex<BTreeMap<Series, f64>>>,
    described: Arc<Mutex<BTreeMap<String, (&'static str, String)>>>,
}

impl Seen {
    pub(crate) fn all(&self) -> BTreeMap<Series, f64> {
        self.sums.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Kinds and descriptions, by name.
    pub(crate) fn described(&self) -> BTreeMap<String, (&'static str, String)> {
        self.described.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn describe(&self, kind: &'static str, name: &KeyName, text: &SharedString) {
        let mut described = self.described.lock().unwrap_or_else(PoisonError::into_inner);
        described.insert(name.as_str().to_owned(), (kind, text.to_string()));
    }

    fn cell(&self, kind: &'static str, key: &Key) -> Arc<Cell> {
        let labels = key.labels().map(|label| (label.key().to_owned(), label.value().to_owned()));
        let series = Series { name: key.name().to_owned(), kind, labels: labels.collect() };
        Arc::new(Cell { series, seen: self.clone() })
    }
}

struct Cell {
    series: Series,
    seen: Seen,
}

impl Cell {
    fn change(&self, change: impl FnOnce(&mut f64)) {
        let mut all = self.seen.sums.lock().unwrap_or_else(PoisonError::into_inner);
        change(all.entry(self.series.clone()).or_default());
    }
}

fn float(number: u64) -> f64 {
    u32::try_from(number).unwrap_or(u32::MAX).into()
}

impl CounterFn for Cell {
    fn increment(&self, by: u64) {
        self.change(|sum| *sum += float(by));
    }
    fn absolute(&self, to: u64) {
        self.change(|sum| *sum = float(to));
    }
}

impl GaugeFn for Cell {
    fn increment(&self, by: f64) {
        self.change(|shown| *shown += by);
    }
    fn decrement(&self, by: f64) {
        self.change(|shown| *shown -= by);
    }
    fn set(&self, to: f64) {
        self.change(|shown| *shown = to);
    }
}

impl HistogramFn for Cell {
    fn record(&self, value: f64) {
        self.change(|sum| *sum += value);
    }
}

impl Recorder for Seen {
    fn describe_counter(&self, name: KeyName, _: Option<Unit>, text: SharedString) {
        self.describe("counter", &name, &text);
    }
    fn describe_gauge(&self, name: KeyName, _: Option<Unit>, text: SharedString) {
        self.describe("gauge", &name, &text);
    }
    fn describe_histogram(&self, name: KeyName, _: Option<Unit>, text: SharedString) {
        self.describe("histogram", &name, &text);
    }

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.cell("counter", key))
    }
    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.cell("gauge", key))
    }
    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(self.cell("histogram", key))
    }
}
