//! The moments at which a worker may die.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Sim;

/// When a worker dies. Between two commits it makes no difference to the database when exactly; to the world
/// outside it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crash {
    /// It has claimed the task, and not called the step.
    AfterClaim,
    /// The step has returned, and nothing of that is recorded.
    BeforeSettle,
    /// What the step returned is recorded, and the worker has not learned that.
    AfterSettle,
}

/// Moments that have passed, and the one to die at. Clones count together.
#[derive(Clone, Debug, Default)]
pub(super) struct Crashes {
    passed: Arc<AtomicU64>,
    at: Option<u64>,
}

impl Crashes {
    /// Whether the worker dies at this moment.
    pub(super) fn is_now(&self) -> bool {
        Some(self.passed.fetch_add(1, Ordering::Relaxed)) == self.at
    }
}

/// Runs a test once as it is, and then once for each moment at which its worker could die, letting it die
/// there.
///
/// ```
/// use pgflow::prelude::*;
/// use pgflow::testing;
///
/// #[flow(input = u8)]
/// mod count {
///     #[step]
///     pub async fn next(run: u8) -> pgflow::Result<u8> { Ok(run + 1) }
///     #[step(depends_on = [next])]
///     pub async fn text(next: u8) -> pgflow::Result<String> { Ok(next.to_string()) }
/// }
///
/// testing::every_crash(|sim| {
///     let mut sim = sim.flow(count::Flow);
///     let run = sim.start(count::Flow, &7).unwrap();
///     sim.run_until_idle();
///     assert_eq!(sim.output(&run).unwrap().text, "8");
///     assert!(sim.calls::<count::next>() <= 2);
/// });
/// ```
pub fn every_crash(test: impl Fn(Sim)) {
    let whole = Crashes::default();
    test(Sim { crashes: whole.clone(), ..Sim::new() });
    for moment in 0..whole.passed.load(Ordering::Relaxed) {
        let said = SaysWhere(moment);
        let crashes = Crashes { at: Some(moment), ..Crashes::default() };
        test(Sim { crashes, ..Sim::new() });
        drop(said);
    }
}

/// Tells which crash a test failed after.
struct SaysWhere(u64);

impl Drop for SaysWhere {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the worker died at moment {} of this test", self.0);
        }
    }
}
