//! Claims that meet.

use std::collections::HashSet;
use std::sync::Arc;

use futures_util::future::join_all;
use pgflow_machine::{Source, TaskLease};
use serde_json::json;
use tokio::sync::Barrier;

use crate::Check;
use crate::check::check;
use crate::kit::{Cx, single};

pub(crate) const CHECKS: &[Check] = &[
    check!("C13", "many claimers get each task once", each_task_once),
    check!("C14", "of two claimers of one task at one instant, one gets it", one_of_two),
    check!(
        "K08",
        "a claim takes no more than it asked for, of the queues it named",
        only_what_was_asked
    ),
];

async fn each_task_once(cx: Arc<Cx>) {
    let tasks = cx.rounds(300, 3_000);
    let flow = cx.flow([single("each").map()]).await;
    cx.start(&flow, vec![0; tasks]).await;
    let handles = [cx.backend(), cx.another().await];
    let barrier = Arc::new(Barrier::new(8));
    let claimer = |n: usize| {
        let (backend, barrier) = (Arc::clone(&handles[n % 2]), Arc::clone(&barrier));
        let wish = cx.wish(&flow, 7);
        tokio::spawn(async move {
            barrier.wait().await;
            let mut leases: Vec<TaskLease> = Vec::new();
            // An empty answer may only mean that somebody else was at it; a second means that all is gone.
            let mut empty = 0;
            while empty < 5 {
                let tasks = backend.claim(&wish).await.expect("work can be claimed").tasks;
                assert!(tasks.len() <= 7, "{} tasks for 7", tasks.len());
                empty = if tasks.is_empty() { empty + 1 } else { 0 };
                leases.extend(tasks.into_iter().map(|task| task.lease));
            }
            leases
        })
    };
    let leases: Vec<_> = join_all((0..8).map(claimer)).await;
    let leases: Vec<_> = leases.into_iter().flat_map(|all| all.expect("no panic")).collect();
    assert_eq!(leases.len(), tasks, "tasks claimed");
    assert_eq!(leases.iter().map(|lease| lease.task.index).collect::<HashSet<_>>().len(), tasks);
    assert!(leases.iter().all(|lease| lease.attempt == 1), "each once");
}

async fn one_of_two(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let handles = [cx.backend(), cx.another().await];
    for round in 0..cx.rounds(30, 1_000) {
        let run = cx.start(&flow, json!(round)).await;
        let barrier = Arc::new(Barrier::new(2));
        let claims = handles.iter().map(|backend| {
            let (backend, barrier) = (Arc::clone(backend), Arc::clone(&barrier));
            let wish = cx.wish(&flow, 10);
            tokio::spawn(async move {
                barrier.wait().await;
                backend.claim(&wish).await.expect("work can be claimed").tasks
            })
        });
        let got: Vec<_> =
            join_all(claims).await.into_iter().flat_map(|t| t.expect("no panic")).collect();
        assert_eq!(got.len(), 1, "round {round}: {got:?}");
        run.done(&got[0], json!(round)).await;
    }
}

async fn only_what_was_asked(cx: Arc<Cx>) {
    let flows = [cx.flow([single("a").map()]).await, cx.flow([single("a").map()]).await];
    for flow in &flows {
        cx.start(flow, json!([1, 2, 3])).await;
    }
    assert_eq!(cx.claim_as(&cx.wish(&flows[0], 0)).await, []);
    let two = cx.claim_as(&cx.wish(&flows[0], 2)).await;
    assert_eq!(two.iter().map(|task| &task.flow).collect::<Vec<_>>(), [&flows[0]; 2]);
    let mut wish = cx.wish(&flows[0], 3);
    wish.wants.push(Source::queue(&flows[1]).into());
    wish.wants.push(Source::queue(cx.name()).into());
    assert_eq!(cx.claim_as(&wish).await.len(), 3, "of two queues and one that does not exist");
    assert_eq!(cx.claim_as(&wish).await.len(), 1);
    wish.wants.clear();
    assert_eq!(cx.claim_as(&wish).await, [], "of no queue");
}
