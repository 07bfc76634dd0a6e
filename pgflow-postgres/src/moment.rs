//! Moments as the core takes them.

use pgflow_machine::Timestamp;

/// The end of the year 9998, in microseconds since 1970: the core takes no later moment.
const LATEST: i64 = 253_370_764_800_000_000;

/// Microseconds since 1970. What is before that is over, and what is later than the core can tell is late enough: no moment is refused.
pub(crate) fn micros_of(moment: Timestamp) -> i64 {
    moment.micros().clamp(0, LATEST)
}
