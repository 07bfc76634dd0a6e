//! Runs all test binaries, several at a time.
//!
//! `cargo test` runs one after the other; many of ours mostly wait (for leases, for servers), and many mostly
//! compile, so side by side they take about half as long.

mod order;
mod run;

use std::collections::VecDeque;
use std::num::NonZero;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use crate::artifacts::{TestBinary, build_tests};
use order::Order;
use run::{Outcome, run};

/// Builds and runs them; how long it took, or why it failed.
pub(crate) fn run_all(test_args: &[String]) -> Result<Duration, String> {
    println!("==> tests: all test binaries of the workspace, several at a time");
    let start = Instant::now();
    let binaries = build_tests().ok_or("the tests do not compile")?;
    println!("    built in {:.1} s", start.elapsed().as_secs_f64());
    let order = Order::read(&binaries);
    let total = binaries.len();
    let progress = Progress { total, outcomes: Mutex::default() };
    side_by_side(order.sorted(binaries), test_args, &progress);
    let outcomes = progress.outcomes.into_inner().expect("no lane panicked");
    order.write(&outcomes);
    let took = start.elapsed();
    println!("<== tests: {total} binaries, {:.1} s", took.as_secs_f64());
    match failures(&outcomes) {
        failed if failed.is_empty() => Ok(took),
        failed => Err(format!("these failed: {}", failed.join(", "))),
    }
}

fn lanes() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
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

fn side_by_side(binaries: Vec<TestBinary>, args: &[String], progress: &Progress) {
    let waiting = Mutex::new(VecDeque::from(binaries));
    let next = || waiting.lock().expect("no lane panicked").pop_front();
    thread::scope(|scope| {
        for _ in 0..lanes() {
            scope.spawn(|| {
                while let Some(binary) = next() {
                    progress.done(run(&binary, args));
                }
            });
        }
    });
}

fn failures(outcomes: &[Outcome]) -> Vec<&str> {
    outcomes.iter().filter(|outcome| !outcome.passed).map(|outcome| outcome.name.as_str()).collect()
}
