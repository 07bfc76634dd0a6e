//! Databases that refuse.

use std::sync::Arc;

use futures_util::future::join_all;
use pgflow_machine::{RunId, RunStatus, Settle, Settled};
use pgflow_runtime::backend::{Backend, NewRun, Parts};
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::{Cx, completed, single};

pub(crate) const CHECKS: &[Check] = &[
    check!(
        "C67",
        "a database that cannot write says so, and nothing changes",
        read_only,
        Processes
    ),
    check!("C68", "two connections that write at once get in nobody's way", two_writers),
];

async fn read_only(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let run = cx.start(&flow, json!({})).await;
    let (reader, guard) = cx.refusing().await;
    let id = RunId::new();
    let start = NewRun::new(flow.clone(), json!({}), id);
    let refusals = [
        reader.start(start).await.map(drop),
        reader.claim(&cx.wish(&flow, 1)).await.map(drop),
        reader.cancel(run.id, None).await.map(drop),
    ];
    for refusal in refusals {
        let error = refusal.expect_err("nothing can be written");
        assert!(error.is_temporary(), "it may be writable later: {error:?}");
    }
    let seen = reader.run(run.id, Parts::Steps).await.expect("reading works").expect("it is there");
    assert_eq!(seen.status, RunStatus::Started);
    assert_eq!(cx.backend().run(id, Parts::Run).await.expect("can be asked"), None);
    drop(guard);
    let [a] = run.take(["a#0"]).await;
    assert_eq!(a.lease.attempt, 1, "no attempt was used");
    run.done(&a, 1).await;
    run.expect_log_end(&["run:completed {\"a\":1}"]).await;
}

async fn two_writers(cx: Arc<Cx>) {
    let flow = cx.flow([single("a"), single("b").after("a")]).await;
    let handles = [cx.backend(), cx.another().await];
    let rounds = cx.rounds(15, 300);
    let writers = (0..8_usize).map(|n| {
        let (cx, backend) = (Arc::clone(&cx), Arc::clone(&handles[n % 2]));
        let flow = flow.clone();
        tokio::spawn(async move {
            for round in 0..rounds {
                write(&cx, &*backend, &flow, round).await;
            }
        })
    });
    for writer in join_all(writers).await {
        writer.expect("no writer is refused");
    }
    for run in cx.runs() {
        let log = crate::kit::Log::read(&*handles[1], run).await;
        assert!(log.count("step:started b") <= 1);
    }
}

/// A start, then whatever there is to do.
async fn write(cx: &Cx, backend: &dyn Backend, flow: &str, round: usize) {
    let run = NewRun::new(flow, json!(round), RunId::new());
    cx.remember(run.id);
    backend.start(run).await.expect("a start");
    let tasks = backend.claim(&cx.wish(flow, 2)).await.expect("a claim").tasks;
    let settle = |task: &pgflow_runtime::backend::ClaimedTask| Settle {
        lease: task.lease.clone().into(),
        verdict: completed(1),
    };
    let settles: Vec<_> = tasks.iter().map(settle).collect();
    let work = backend.settle(&settles, None).await.expect("a settle");
    assert!(work.settled.iter().all(|settled| *settled == Settled::Applied), "{:?}", work.settled);
    backend.sweep().await.expect("a sweep");
}
