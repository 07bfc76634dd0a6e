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
pub(crate) struct Seen(Arc<Mutex<BTreeMap<Series, f64>>>);

impl Seen {
    pub(crate) fn all(&self) -> BTreeMap<Series, f64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
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
        let mut all = self.seen.0.lock().unwrap_or_else(PoisonError::into_inner);
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
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

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
