//! A database that is away for longer than a lease lasts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use pgflow::prelude::*;
use pgflow_worker_tests::{Flaky, Mood, Outcome, Working};
use tokio::time::sleep;

/// How often handlers ran.
#[derive(Clone, Default)]
struct Count(Arc<AtomicU32>);

// A lease of five seconds.
#[flow(slug = "patient_outage", input = u64, max_attempts = 1, timeout = 3)]
mod patient {
    use super::*;

    #[step]
    pub(crate) async fn wait(run: u64, State(count): State<Count>) -> Result<u64> {
        count.0.fetch_add(1, Ordering::SeqCst);
        sleep(Duration::from_millis(run)).await;
        Ok(run)
    }
}

/// Everything that a worker says to its database.
const CALLS: [&str; 5] = ["claim", "settle", "heartbeat", "sweep", "release_unknown"];

fn set(flaky: &Flaky, times: u32) {
    for method in CALLS {
        flaky.set(method, Mood::Down, times);
    }
}

/// Runs a task, lets the database go away while it runs, and come back so much later.
async fn outlive(flaky: &Flaky, db: &Db, work: u64, outage: Duration) -> Outcome {
    let run = db.start(patient::Flow, &work).await?;
    sleep(Duration::from_millis(1500)).await;
    set(flaky, u32::MAX);
    sleep(outage).await;
    set(flaky, 0);
    assert_eq!(run.output().await?.wait, work);
    Ok(())
}

/// The worker's own sweep must not take away what it could not speak for. Outages of many lengths, so that the
/// first call which is answered is sometimes this and sometimes that.
#[tokio::test(start_paused = true)]
async fn a_result_that_waited_is_recorded_and_the_handler_ran_once() -> Outcome {
    let (flaky, count) = (Flaky::in_virtual_time(), Count::default());
    let db = Db::new(flaky.clone());
    db.register(patient::Flow).await?;
    let worker = Worker::new(&db).flow(patient::Flow).state(count.clone()).concurrency(1);
    let worker = Working::start(worker);
    for outage in 0..12 {
        let outage = Duration::from_millis(9000 + outage * 700);
        outlive(&flaky, &db, 2500, outage).await?;
    }
    assert_eq!(count.0.load(Ordering::SeqCst), 12, "no handler ran twice");
    let report = worker.stop().await?;
    assert_eq!((report.settled, report.superseded, report.lost), (12, 0, 0), "{report}");
    Ok(())
}
