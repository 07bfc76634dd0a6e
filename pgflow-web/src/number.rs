//! Numbers for pictures and gauges.

/// As near as it gets.
#[expect(clippy::cast_precision_loss, reason = "nobody sees the difference")]
pub(crate) fn precise(count: u64) -> f64 {
    count as f64
}
