//! Runs all test binaries, several at a time.
//!
//! `cargo test` runs one after the other; many of ours mostly wait (for leases, for servers), and many mostly
//! compile, so side by side they take about half as long.

mod again;
mod deadline;
mod order;
mod run;
mod waiting;

use std::num::NonZero;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use crate::artifacts::{TestBinary, build_tests};
use again::{Again, again};
use order::Order;
use run::{Outcome, run};
use waiting::Waiting;

/// Builds and runs them; how long it took, or why it failed.
pub(crate) fn run_all(test_args: &[String]) -> Result<Duration, String> {
    println!("==> tests: all test binaries of the workspace, several at a time");
    let start = Instant::now();
    let binaries = build_tests().ok_or("the tests do not compile")?;
    println!("    built in {:.1} s", start.elapsed().as_secs_f64());
    let order = Order::read(&binaries);
    let binaries = order.sorted(binaries);
    let progress = Progress { total: binaries.len(), outcomes: Mutex::default() };
    side_by_side(&binaries, test_args, &progress);
    let outcomes = progress.outcomes.into_inner().expect("no lane panicked");
    order.write(&outcomes);
    let Again { failed, unstable } = again(&binaries, &outcomes, test_args);
    let took = start.elapsed();
    println!("<== tests: {} binaries, {:.1} s", binaries.len(), took.as_secs_f64());
    for test in unstable {
        println!("    UNSTABLE, failed beside others and passed alone: {test}");
    }
    if failed.is_empty() { Ok(took) } else { Err(format!("these failed: {}", failed.join(", "))) }
}

/// One more than there are cores: most binaries wait most of the time.
fn lanes() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get) + 1
}

struct Progress {
    total: usize,
    outcomes: Mutex<Vec<Outcome>>,
}

impl Progress {
    fn done(&self, outcome: Outcome) {
        let mut outcomes = self.outcomes.lock().expect("no lane panicked");
        outcomes.push(outcome);
        let (done, total) = (outcomes.len(), self.total);
        println!("[{done:>3}/{total}] {}", outcomes[done - 1]);
    }
}

fn side_by_side(binaries: &[TestBinary], args: &[String], progress: &Progress) {
    let waiting = Mutex::new(Waiting::new(binaries));
    let waiting = || waiting.lock().expect("no lane panicked");
    thread::scope(|scope| {
        for _ in 0..lanes() {
            scope.spawn(|| {
                loop {
                    let Some(binary) = waiting().next() else { break };
                    progress.done(run(binary, args));
                    waiting().ended(binary);
                }
            });
        }
    });
}
