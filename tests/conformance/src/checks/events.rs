//! A run's log, read while it grows.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use pgflow_machine::{
    EVENT_BYTES, Event, Happened, RunId, RunStatus, Settle, Settled, payload_bytes,
};
use pgflow_model::StepShape;
use pgflow_runtime::backend::Backend;
use serde_json::{Value, json};

use crate::Check;
use crate::check::check;
use crate::kit::{Cx, completed, lines, single};

pub(crate) const CHECKS: &[Check] = &[
    check!("C28", "a reader with a cursor sees every event once, in order", reader_with_a_cursor),
    check!(
        "C29",
        "a reader never passes a writer that is slow to commit",
        slow_commit,
        Transactions
    ),
    check!("C31", "a run has one end, whoever races for it", one_end),
    check!("K17", "events come in pages, from any cursor", pages),
    check!("K80", "a page of events has no more bytes than one may, and one event at least", bytes),
];

const WIDTH: usize = 40;

/// Polls until the run has ended.
async fn follow(backend: Arc<dyn Backend>, run: RunId) -> Vec<Event> {
    let deadline = Instant::now() + Duration::from_mins(1);
    let mut seen: Vec<Event> = Vec::new();
    while !seen.last().is_some_and(|event| event.what.ends_the_run()) && Instant::now() < deadline {
        let after = seen.last().map_or(0, |event| event.seq);
        seen.extend(backend.events(run, after, 3).await.expect("events can be read"));
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    seen
}

/// Eight writers on two connections end the steps of one run, two readers follow.
async fn reader_with_a_cursor(cx: Arc<Cx>) {
    let slugs: Vec<_> = (0..WIDTH).map(|n| format!("s{n:02}")).collect();
    let join = slugs.iter().fold(single("z"), StepShape::after);
    let flow = cx.flow(slugs.iter().map(|slug| single(slug)).chain([join])).await;
    let handles = [cx.backend(), cx.another().await];
    for round in 0..cx.rounds(2, 100) {
        let run = cx.start(&flow, json!(round)).await;
        let readers =
            handles.each_ref().map(|backend| tokio::spawn(follow(Arc::clone(backend), run.id)));
        let writers = (0..8).map(|n| {
            let (backend, wish) = (Arc::clone(&handles[n % 2]), cx.wish(&flow, 1));
            tokio::spawn(async move { write(&*backend, &wish).await })
        });
        for writer in join_all(writers).await {
            writer.expect("no writer panics");
        }
        let [z] = run.take(["z#0"]).await;
        run.done(&z, 1).await;
        let log = run.log().await;
        assert_eq!(log.0.len(), 2 * WIDTH + 4, "{:?}", log.lines());
        for reader in readers {
            let seen = reader.await.expect("no reader panics");
            assert_eq!(lines(&seen), log.lines(), "what a reader saw");
            assert!(seen.iter().zip(1..).all(|(event, seq)| event.seq == seq), "dense");
        }
        run.expect_log_end(&["step:completed z 1", "run:completed {\"z\":1}"]).await;
    }
}

/// Until nothing but the join, which waits for all writers, can be had.
async fn write(backend: &dyn Backend, wish: &pgflow_runtime::backend::Claim) {
    let mut empty = 0;
    let mut wish = wish.clone();
    wish.wants[0].quotas = vec![pgflow_runtime::backend::Quota { step: "z".into(), max: 0 }];
    while empty < 5 {
        let tasks = backend.claim(&wish).await.expect("work can be claimed").tasks;
        empty = if tasks.is_empty() { empty + 1 } else { 0 };
        for task in tasks {
            let settle = Settle { lease: task.lease.into(), verdict: completed(1) };
            let work = backend.settle(&[settle], None).await.expect("an attempt can be settled");
            assert_eq!(work.settled, [Settled::Applied]);
        }
    }
}

/// One step's transaction stays open while another step of the run is settled.
async fn slow_commit(cx: Arc<Cx>) {
    let flow = cx.flow([single("fast"), single("slow")]).await;
    let run = cx.start(&flow, json!({})).await;
    let [fast, slow] = run.take(["fast#0", "slow#0"]).await;
    let (backend, other) = (cx.backend(), cx.another().await);
    let reader = tokio::spawn(follow(Arc::clone(&other), run.id));
    let tx = backend
        .begin(&slow.lease.clone().into())
        .await
        .expect("a transaction")
        .expect("the lease holds");
    let settle = tokio::spawn(async move {
        let settle = Settle { lease: fast.lease.into(), verdict: completed("fast") };
        other.settle(&[settle], None).await
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    let settled =
        backend.commit(tx, &Settle { lease: slow.lease.into(), verdict: completed("slow") }).await;
    assert_eq!(settled.expect("a commit"), Settled::Applied);
    let work = settle.await.expect("no panic").expect("an attempt can be settled");
    assert_eq!(work.settled, [Settled::Applied]);
    let seen = reader.await.expect("no reader panics");
    assert_eq!(lines(&seen), run.log().await.lines());
    run.expect_state(RunStatus::Completed, &["fast:completed", "slow:completed"]).await;
    run.expect_log_end(&["run:completed {\"fast\":\"fast\",\"slow\":\"slow\"}"]).await;
}

/// A cancellation, a failure and completions at one instant.
async fn one_end(cx: Arc<Cx>) {
    let flow = cx.flow([single("a"), single("b"), single("c")]).await;
    let handles = [cx.backend(), cx.another().await];
    for round in 0..cx.rounds(15, 500) {
        let run = cx.start(&flow, json!(round)).await;
        let [a, b, c] = run.take(["a#0", "b#0", "c#0"]).await;
        let settle = |n: usize, lease, verdict| {
            let (backend, settle) = (Arc::clone(&handles[n % 2]), Settle { lease, verdict });
            tokio::spawn(async move { backend.settle(&[settle], None).await.map(drop) })
        };
        let canceller = Arc::clone(&handles[round % 2]);
        let id = run.id;
        let races = [
            settle(round, a.lease.into(), completed(1)),
            settle(round + 1, b.lease.into(), crate::kit::fatal("boom")),
            settle(round, c.lease.into(), completed(1)),
            tokio::spawn(async move { canceller.cancel(id, None).await.map(drop) }),
        ];
        for race in join_all(races).await {
            race.expect("no panic").expect("a race has outcomes, not errors");
        }
        let ends = run.log().await.0.iter().filter(|event| event.what.ends_the_run()).count();
        assert_eq!(ends, 1, "round {round}: {:?}", run.log().await.lines());
        let status = run.record().await.status;
        assert!(matches!(status, RunStatus::Failed | RunStatus::Cancelled), "{status}");
    }
}

async fn pages(cx: Arc<Cx>) {
    let flow = cx.flow([single("a"), single("b"), single("c")]).await;
    let run = cx.start(&flow, json!({})).await;
    let page = async |after, max| {
        let events = cx.backend().events(run.id, after, max).await.expect("events can be read");
        events.iter().map(|event| event.seq).collect::<Vec<_>>()
    };
    assert_eq!(page(0, 100).await, [1, 2, 3, 4]);
    assert_eq!(page(0, 2).await, [1, 2]);
    assert_eq!(page(1, 2).await, [2, 3]);
    assert_eq!(page(3, 2).await, [4]);
    assert_eq!(page(4, 2).await, [0_u64; 0]);
    assert_eq!(page(1_000_000, 2).await, [0_u64; 0]);
    assert_eq!(page(0, 0).await, [0_u64; 0]);
    let unknown = cx.backend().events(RunId::new(), 0, 10).await.expect("events can be read");
    assert_eq!(unknown, []);
}

/// Outputs of a third of a page, one as large as an output may be, and a map whose outputs are more than a page together.
async fn bytes(cx: Arc<Cx>) {
    let text = |bytes: usize| Value::String("x".repeat(bytes));
    let thirds = ["a", "b", "c", "d"];
    let steps = thirds.map(single).into_iter();
    let flow = cx.flow(steps.chain([single("large"), single("wide").map().after("d")])).await;
    let run = cx.start(&flow, json!("small")).await;
    let limits = cx.backend().limits().await.expect("limits can be read");
    for task in run.take(["a#0", "b#0", "c#0", "d#0", "large#0"]).await {
        let output = match &*task.lease.task.step {
            "large" => text(limits.max_bytes - 2),
            "d" => json!([0, 1, 2]),
            _ => text(EVENT_BYTES / 3),
        };
        run.done(&task, output).await;
    }
    for task in run.take(["wide#0", "wide#1", "wide#2"]).await {
        run.done(&task, text(EVENT_BYTES / 2)).await;
    }
    let (mut read, mut pages): (Vec<Event>, Vec<usize>) = Default::default();
    loop {
        let after = read.last().map_or(0, |event| event.seq);
        let page = cx.backend().events(run.id, after, 100).await.expect("events can be read");
        if page.is_empty() {
            break;
        }
        let sizes: Vec<_> = page.iter().map(weight).collect();
        let all: usize = sizes.iter().sum();
        assert!(page.len() == 1 || all <= EVENT_BYTES, "a page of {sizes:?}");
        pages.push(page.len());
        read.extend(page);
    }
    // Two thirds; one; the large one; the wide one; the end, which has them all.
    assert!((4..=7).contains(&pages.len()), "as much as fits is read at once: {pages:?}");
    assert_eq!(lines(&read), run.log().await.lines());
    assert_eq!(read.len(), 1 + 2 * 6 + 1);
    assert!(read.iter().zip(1..).all(|(event, seq)| event.seq == seq), "dense");
}

/// Bytes of what an event is about.
fn weight(event: &Event) -> usize {
    match &event.what {
        Happened::RunStarted { input: payload }
        | Happened::RunCompleted { output: payload }
        | Happened::StepCompleted { output: payload, .. } => payload_bytes(payload),
        _ => 0,
    }
}
