//! What an experiment has to say.

use serde::Serialize;
use serde_json::{Map, Value};

/// Numbers and notes by name.
pub type Metrics = Map<String, Value>;

/// What came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// As promised.
    Pass,
    /// Not as promised; `why` in the metrics says what.
    Fail,
}

/// One line.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Of the experiment.
    pub id: &'static str,
    /// With which it can be repeated.
    pub seed: u64,
    /// What came out.
    pub verdict: Verdict,
    /// What was measured.
    pub metrics: Metrics,
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| std::fmt::Error)?)
    }
}

/// The value below which this share of them is: 0.5 is the median, 1 the worst.
pub fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "there are not that many"
    )]
    let at = (sorted.len() as f64 * share) as usize;
    sorted.get(at).or(sorted.last()).copied().unwrap_or_default()
}

/// Metrics from names and values.
#[macro_export]
macro_rules! metrics {
    ($($name:literal: $value:expr),* $(,)?) => {
        [$(($name.to_owned(), serde_json::json!($value))),*].into_iter().collect()
    };
}
