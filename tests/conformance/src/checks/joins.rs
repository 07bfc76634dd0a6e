//! Joins under concurrency.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use pgflow_machine::{RunStatus, Settle, Settled, TaskLease};
use pgflow_runtime::backend::Backend;
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::{Cx, completed, single};

pub(crate) const CHECKS: &[Check] =
    &[check!("C04", "a join starts once, when all before it are done", diamond)];

const WORKERS: usize = 32;

/// Diamonds, worked on by 32 workers on two connections.
async fn diamond(cx: Arc<Cx>) {
    let (left, right) = (single("left").after("top"), single("right").after("top"));
    let join = single("join").after("left").after("right");
    let flow = cx.flow([single("top"), left, right, join]).await;
    let mut runs = Vec::new();
    for n in 0..cx.rounds(40, 1_000) {
        runs.push(cx.start(&flow, json!(n)).await);
    }
    let taken = work_off(&cx, &flow, runs.len() * 4).await;
    assert_eq!(taken.len(), runs.len() * 4, "tasks claimed");
    assert_eq!(taken.iter().collect::<HashSet<_>>().len(), taken.len(), "each once");
    for run in &runs {
        let record = run.record().await;
        let input = json!({"run": record.input.clone(), "left": "left", "right": "right"});
        assert_eq!(record.status, RunStatus::Completed);
        assert_eq!(record.output, Some(json!({"join": input})), "what the join was given");
        let log = run.log().await;
        for step in ["top", "left", "right", "join"] {
            assert_eq!(log.count(&format!("step:started {step}")), 1);
            assert_eq!(log.count(&format!("step:completed {step}")), 1);
        }
        assert_eq!(log.0.len(), 10, "{:?}", log.lines());
    }
}

async fn work_off(cx: &Arc<Cx>, flow: &str, total: usize) -> Vec<TaskLease> {
    let handles = [cx.backend(), cx.another().await];
    let left = Arc::new(AtomicUsize::new(total));
    let worker = |n: usize| {
        let (cx, backend, left) = (Arc::clone(cx), Arc::clone(&handles[n % 2]), Arc::clone(&left));
        let flow = flow.to_owned();
        tokio::spawn(async move { work(&cx, &*backend, &flow, &left).await })
    };
    let taken = join_all((0..WORKERS).map(worker)).await;
    taken.into_iter().flat_map(|leases| leases.expect("no worker panics")).collect()
}

/// A join outputs what it was given, all others their name.
async fn work(cx: &Cx, backend: &dyn Backend, flow: &str, left: &AtomicUsize) -> Vec<TaskLease> {
    let deadline = Instant::now() + Duration::from_secs(100);
    let (mut taken, wish) = (Vec::new(), cx.wish(flow, 3));
    while left.load(Ordering::Relaxed) > 0 && Instant::now() < deadline {
        let tasks = backend.claim(&wish).await.expect("work can be claimed").tasks;
        if tasks.is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        for task in tasks {
            let step = task.lease.task.step.clone();
            let output = if step == "join" { task.input } else { step.into() };
            let settle = Settle { lease: task.lease.clone().into(), verdict: completed(output) };
            let work = backend.settle(&[settle], None).await.expect("an attempt can be settled");
            assert_eq!(work.settled, [Settled::Applied]);
            left.fetch_sub(1, Ordering::Relaxed);
            taken.push(task.lease);
        }
    }
    taken
}
