//! Waiting for other processes, which take the time they take.

use std::time::{Duration, Instant};

/// Far longer than anything takes, on the busiest machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// Waits for something that another process does: an assertion about how fast it is would fail on a busy
/// machine.
///
/// # Panics
/// When it does not happen within a minute.
pub fn wait_until(what: &str, happened: impl FnMut() -> bool) {
    assert!(happens(happened), "waited in vain until {what}");
}

/// Whether it happened before patience was at its end.
pub(crate) fn happens(mut happened: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + PATIENCE;
    while !happened() {
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}
