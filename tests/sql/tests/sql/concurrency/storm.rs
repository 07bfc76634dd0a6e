//! Eight sessions settle mixed runs in batches, and nobody deadlocks.

use std::time::{Duration, Instant};

use super::race::assert_no_deadlocks;
use super::storm_session::Worker;
use crate::harness::{Db, Random, define, long};

const SESSIONS: usize = 8;

fn flows() -> String {
    define(
        "d",
        &[
            "a",
            "l after a",
            "r after a",
            "j after l r; max_attempts => 1, when_exhausted => 'skip'",
        ],
    ) + &define(
        "w",
        &[
            "m map; max_attempts => 9",
            "n map after m",
            "z after n; when_exhausted => 'skip-cascade'",
        ],
    ) + &define(
        "x",
        &["a; timeout => 1", "m map after a; timeout => 1", "b after a", "j after m b"],
    )
}

/// Ends every run that is still open, as the next workers would.
async fn drain(db: &Db) {
    for _ in 0..100 {
        for flow in ["d", "w", "x"] {
            db.wake(flow).await;
            db.claim(flow).await;
        }
        db.run("select pgflow.complete_tasks(array_agg(t.run_id), array_agg(step_slug), array_agg(task_index),
                    array_agg('[1, 2]'::jsonb))
                from pgflow.step_tasks t join pgflow.runs r using (run_id)
                where t.status = 'started' and r.status = 'started' having count(*) > 0")
            .await;
        if db.one("select count(*) from pgflow.runs where status = 'started'").await == "0" {
            return;
        }
    }
    panic!("runs hang");
}

#[tokio::test]
async fn mixed_batches_from_eight_sessions_never_deadlock() {
    let db = Db::with(&flows()).await;
    let mut random = Random::new();
    let end = Instant::now() + Duration::from_secs(if long() { 30 } else { 5 });
    let mut workers = Vec::new();
    for _ in 0..SESSIONS {
        let mut worker = Worker::new(db.session().await, Random::from_seed(random.next()));
        workers.push(tokio::spawn(async move {
            while Instant::now() < end {
                worker.act().await;
            }
            worker.settled
        }));
    }
    let mut settled = 0;
    for worker in workers {
        settled += worker.await.expect("no statement of the storm may be refused");
    }
    println!("{settled} tasks settled");
    assert!(settled > 100, "a storm of {settled} tasks proves nothing");
    db.check().await;
    drain(&db).await;
    assert_no_deadlocks(&db).await;
    db.check().await;
}
