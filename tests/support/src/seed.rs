//! Where random tests begin.

use std::time::UNIX_EPOCH;

/// What the test command plays: the same each time, so that a change is judged by what it changes.
const PINNED: u64 = 20_261_118;

/// `PGFLOW_TEST_SEED`: a number, or `random` for a hunt; without it always the same one. Print it.
///
/// # Panics
/// When the variable is neither.
pub fn seed_from_env() -> u64 {
    match std::env::var("PGFLOW_TEST_SEED").as_deref() {
        Ok("random") => {
            UNIX_EPOCH.elapsed().map_or(0, |age| u64::from(age.subsec_nanos()) ^ age.as_secs())
        }
        Ok(seed) => seed.parse().expect("PGFLOW_TEST_SEED is a number or `random`"),
        Err(_) => PINNED,
    }
}
