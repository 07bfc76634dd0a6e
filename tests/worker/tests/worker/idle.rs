//! What a worker asks when there is nothing to do, and what a lost hint costs. All in virtual time, without hints.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pgflow::Run;
use pgflow::prelude::*;
use pgflow_machine::WorkerId;
use pgflow_runtime::backend::{Claim, Work};
use pgflow_worker_tests::{Flaky, Outcome, Working};
use tokio::time::{Instant, sleep};

/// What lets handlers end.
#[derive(Clone, Default)]
struct Gate(Arc<AtomicBool>);

#[flow(input = u32, timeout = 5)]
mod wait {
    use super::*;

    #[step]
    pub(crate) async fn entered(run: u32) -> Result<u32> {
        Ok(run)
    }

    #[step(depends_on = [entered], timeout = 3600)]
    pub(crate) async fn left(entered: u32, State(gate): State<Gate>) -> Result<u32> {
        while !gate.0.load(Ordering::SeqCst) {
            sleep(Duration::from_millis(100)).await;
        }
        Ok(entered)
    }
}

async fn start(concurrency: usize) -> Outcome<(Flaky, Db, Working, Gate)> {
    let (flaky, gate) = (Flaky::in_virtual_time(), Gate::default());
    let db = Db::new(flaky.clone());
    db.register(wait::Flow).await?;
    let worker = Worker::new(&db).flow(wait::Flow).state(gate.clone()).concurrency(concurrency);
    let worker = Working::start(worker);
    // Random, so that it is not in step with anything.
    sleep(Duration::from_millis(3_000 + u64::from(std::process::id() % 1_000))).await;
    Ok((flaky, db, worker, gate))
}

#[tokio::test(start_paused = true)]
async fn an_idle_worker_makes_one_call_a_second_sweeps_included() -> Outcome {
    let (flaky, _, worker, _) = start(4).await?;
    let before = flaky.all_calls();
    sleep(Duration::from_mins(1)).await;
    let (calls, sweeps) = (flaky.all_calls() - before, flaky.calls("sweep_and_claim"));
    assert!((58..=60).contains(&calls), "{calls} calls in 60 s");
    assert!((12..=30).contains(&sweeps), "{sweeps} sweeps in 60 s");
    assert_eq!(flaky.calls("sweep"), 0, "none of them alone");
    worker.stop().await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn work_whose_hint_is_lost_starts_within_a_second() -> Outcome {
    let (_, db, worker, gate) = start(4).await?;
    gate.0.store(true, Ordering::SeqCst);
    for number in 0..20 {
        let run = db.start(wait::Flow, &number).await?;
        let took = entered(&run).await?;
        assert!(took <= Duration::from_millis(1_010), "{took:?}");
        run.output().await?;
        sleep(Duration::from_millis(u64::from(number) * 73)).await;
    }
    worker.stop().await?;
    Ok(())
}

/// Takes a task as a worker that is gone would.
async fn lose_one(flaky: &Flaky, db: &Db) -> Outcome<Run<wait::Flow>> {
    let run = db.start(wait::Flow, &1).await?;
    let claim = Claim::of_queues(["wait"], 1, WorkerId::new());
    assert_eq!(flaky.claim(&claim).await?.tasks.len(), 1);
    Ok(run)
}

/// Waits until the first step of a run is done; how long that took.
async fn entered(run: &Run<wait::Flow>) -> Outcome<Duration> {
    let since = Instant::now();
    while run.step_output::<wait::entered>().await?.is_none() {
        sleep(Duration::from_millis(1)).await;
    }
    Ok(since.elapsed())
}

#[tokio::test(start_paused = true)]
async fn a_worker_without_a_free_slot_sweeps_alone() -> Outcome {
    let (flaky, db, worker, gate) = start(1).await?;
    let run = db.start(wait::Flow, &1).await?;
    entered(&run).await?;
    lose_one(&flaky, &db).await?;
    let claims = flaky.calls("claim") + flaky.calls("sweep_and_claim");
    sleep(Duration::from_mins(1)).await;
    assert_eq!(flaky.calls("claim") + flaky.calls("sweep_and_claim"), claims, "it has no room");
    assert!((12..=30).contains(&flaky.calls("sweep")), "{} sweeps", flaky.calls("sweep"));
    gate.0.store(true, Ordering::SeqCst);
    run.output().await?;
    worker.stop().await?;
    Ok(())
}

/// Lease (5 + 2 s), and five seconds for a sweep.
#[tokio::test(start_paused = true)]
async fn what_another_worker_lost_is_found_in_time() -> Outcome {
    for concurrency in [1, 4] {
        let (flaky, db, worker, gate) = start(concurrency).await?;
        gate.0.store(true, Ordering::SeqCst);
        let took = entered(&lose_one(&flaky, &db).await?).await?;
        assert!((Duration::from_secs(7)..Duration::from_secs(13)).contains(&took), "{took:?}");
        worker.stop().await?;
    }
    Ok(())
}
