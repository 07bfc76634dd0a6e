//! What a claim hands out when there is much to choose from.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::{RunStatus, Settle, Source};
use pgflow_runtime::backend::{Cancelled, ClaimedTask};
use serde_json::{Value, json};

use crate::Check;
use crate::check::check;
use crate::kit::{Cx, Run, StepExt, completed, later, single};

pub(crate) const CHECKS: &[Check] = &[
    check!("K60", "a small run does not wait for a wide map", beside_a_map),
    check!("K61", "a wide map goes on while small runs keep coming", map_goes_on),
    check!("K64", "nor for one whose tasks are all tried again", behind_retries),
    check!("K65", "nor for one that was delayed", behind_a_delay),
    check!("K66", "runs that are over leave nothing in the queue", nothing_is_left),
    check!("K62", "any number of large inputs is handed out in portions", portions),
    check!("K69", "portions of several flows together are no larger", portions_of_several),
    check!("K70", "a run does not wait for what has piled up of another flow", beside_a_backlog),
];

/// A flow with a map in the middle, and a run of it in which that is wide and has begun.
async fn wide(cx: &Arc<Cx>, elements: usize) -> String {
    let steps = [single("list"), single("each").map().after("list"), single("last").after("each")];
    let flow = cx.flow(steps).await;
    let run = cx.start(&flow, 0).await;
    let [list] = run.take(["list#0"]).await;
    run.done(&list, vec![0; elements]).await;
    // Those that stand in turn.
    for _ in 0..2 {
        assert_eq!(cx.claim_as(&cx.wish(&flow, 16)).await.len(), 16);
    }
    flow
}

/// The task of a run, from one of the next claims.
async fn next_of(run: &Run, max: u32, claims: u32) -> ClaimedTask {
    for _ in 0..claims {
        let tasks = run.cx.claim_as(&run.cx.wish(&run.flow, max)).await;
        if let Some(task) = tasks.into_iter().find(|task| task.lease.task.run == run.id) {
            return task;
        }
    }
    panic!("{claims} claims of {max} have nothing of the small run");
}

async fn beside_a_map(cx: Arc<Cx>) {
    let elements = cx.rounds(2_000, 50_000);
    let flow = wide(&cx, elements).await;
    for (max, claims) in [(20, 1), (1, 40)] {
        let run = cx.start(&flow, 1).await;
        for output in [json!([7]), json!(8), json!(9)] {
            let task = next_of(&run, max, claims).await;
            run.done(&task, output).await;
        }
        run.expect_state(
            RunStatus::Completed,
            &["list:completed", "each:completed", "last:completed"],
        )
        .await;
    }
}

/// Tasks that a claim hands out of other runs before one of this run; none of them is settled.
async fn claimed_before(run: &Run, max: u32) -> usize {
    let mut others = 0;
    loop {
        let tasks = run.cx.claim_as(&run.cx.wish(&run.flow, max)).await;
        assert!(!tasks.is_empty(), "{others} others, and nothing of the small run");
        if tasks.iter().any(|task| task.lease.task.run == run.id) {
            return others;
        }
        others += tasks.len();
    }
}

async fn behind_retries(cx: Arc<Cx>) {
    let elements = cx.rounds(3_000, 50_000);
    let flow = cx.flow([single("m").map()]).await;
    cx.start(&flow, vec![0; elements]).await;
    let mut held = Vec::new();
    while held.len() < elements {
        held.extend(cx.claim_as(&cx.wish(&flow, 1_000)).await);
    }
    for some in held.chunks(500) {
        let settle = |task: &ClaimedTask| Settle {
            lease: task.lease.clone().into(),
            verdict: later("not yet", Duration::ZERO),
        };
        cx.settle_all(some.iter().map(settle).collect()).await;
    }
    let small = cx.start(&flow, vec![1]).await;
    let before = claimed_before(&small, 8).await;
    assert!(before < elements / 3, "{before} of {elements} tasks came before the small run");
}

async fn behind_a_delay(cx: Arc<Cx>) {
    let elements = cx.rounds(3_000, 50_000);
    let flow = cx.flow([single("m").map().start_delay(60)]).await;
    cx.start(&flow, vec![0; elements]).await;
    let small = cx.start(&flow, vec![1]).await;
    cx.advance(&flow, 61).await;
    let before = claimed_before(&small, 8).await;
    assert!(before < elements / 3, "{before} of {elements} tasks came before the small run");
}

/// However they ended: what is claimed next is of a run that goes on, and at once.
async fn nothing_is_left(cx: Arc<Cx>) {
    let flow = cx.flow([single("m").map()]).await;
    for _ in 0..3 {
        let run = cx.start(&flow, vec![0; 1_000]).await;
        assert_eq!(run.cancel(None).await, Cancelled::Cancelled);
        let failing = cx.start(&flow, vec![0; 1_000]).await;
        let task = next_of(&failing, 8, 40).await;
        failing.fail_for_good(&task, "boom").await;
    }
    assert_eq!(cx.claim(&flow).await.len(), 0);
}

async fn map_goes_on(cx: Arc<Cx>) {
    let flow = wide(&cx, 500).await;
    for number in 0..200 {
        cx.start(&flow, number).await;
    }
    for (max, claims) in [(20, 4), (1, 80)] {
        let mut of_map = 0;
        for _ in 0..claims {
            let tasks = cx.claim_as(&cx.wish(&flow, max)).await;
            of_map += tasks.iter().filter(|task| task.lease.task.step == "each").count();
        }
        assert!((4..=60).contains(&of_map), "{of_map} of 80 tasks are of the map");
    }
}

async fn portions(cx: Arc<Cx>) {
    let runs = cx.rounds(20, 300);
    let flow = cx.flow([single("a")]).await;
    let large = |number: usize| Value::from(format!("{number:010}").repeat(390_000));
    for number in 0..runs {
        cx.start(&flow, large(number)).await;
    }
    let mut done = 0;
    let mut claims = 0;
    while done < runs {
        claims += 1;
        assert!(claims <= runs, "{done} of {runs} tasks after {claims} claims");
        let tasks = cx.claim(&flow).await;
        let bytes: usize = tasks.iter().map(|task| task.input.to_string().len()).sum();
        assert!(bytes < 200_000_000, "{} tasks of {bytes} bytes at once", tasks.len());
        done += tasks.len();
        let settle =
            |task: &ClaimedTask| Settle { lease: task.lease.clone().into(), verdict: completed(1) };
        for some in tasks.chunks(16) {
            cx.settle_all(some.iter().map(settle).collect()).await;
        }
    }
}

/// What a claim hands out at once.
const AT_ONCE: usize = 64_000_000;

async fn portions_of_several(cx: Arc<Cx>) {
    let (bytes, each) = (3_900_000, cx.rounds(7, 50));
    let input = Value::from("x".repeat(bytes - 100));
    let mut flows = Vec::new();
    for _ in 0..3 {
        let flow = cx.flow([single("a")]).await;
        for _ in 0..each {
            cx.start(&flow, input.clone()).await;
        }
        flows.push(flow);
    }
    let mut wish = cx.wish(&flows[0], 300);
    wish.wants.extend(flows[1..].iter().map(|flow| Source::queue(flow).into()));
    let mut left = 3 * each;
    while left > 0 {
        let claimed = cx.claim_as(&wish).await.len();
        assert_eq!(claimed, left.min(AT_ONCE / bytes), "of {left} in three flows");
        left -= claimed;
    }
}

async fn beside_a_backlog(cx: Arc<Cx>) {
    let busy = cx.flow([single("a")]).await;
    for number in 0..cx.rounds(300, 5_000) {
        cx.start(&busy, number).await;
    }
    for (max, claims) in [(8, 20), (1, 40)] {
        let flow = cx.flow([single("a")]).await;
        let run = cx.start(&flow, 1).await;
        let mut wish = cx.wish(&busy, max);
        wish.wants.push(Source::queue(&flow).into());
        let mut is_found = false;
        for _ in 0..claims {
            let tasks = cx.claim_as(&wish).await;
            is_found |= tasks.iter().any(|task| task.lease.task.run == run.id);
        }
        assert!(is_found, "{claims} claims of {max} have nothing of the run");
    }
}
