//! Steps of flows whose attempts need resources and rates.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::permit::{PermitProblem, Rate, Stage};
use pgflow_machine::{Beat, Settled, WorkerId};
use pgflow_runtime::backend::{BackendError, Cancelled, Claimed, StepClaim};
use serde_json::json;

use super::{QueueKit, held};
use crate::Check;
use crate::check::check;
use crate::kit::{Cx, RELEASED, completed, failed, fatal, names, single};

pub(super) const CHECKS: &[Check] = &[
    check!("Q25", "attempts at tasks hold what their step says", holding, Pipelines),
    check!("Q26", "claims of a step at the same time share a resource", sharing, Pipelines),
    check!("Q27", "tasks keep to a rate", rated, Pipelines),
    check!("Q41", "who works for a cancelled run holds until it says so", cancelled, Pipelines),
    check!("Q42", "who works for a run that fails holds until it says so", failing, Pipelines),
    check!("Q43", "who is not heard of holds as long as its lease may last", unheard, Pipelines),
];

/// Up to so many tasks of step `held`.
fn wish(flow: &str, max: u32, stage: Stage) -> StepClaim {
    let (flow, step, others) = (flow.to_owned(), "held".to_owned(), vec!["free".to_owned()]);
    StepClaim { worker: WorkerId::new(), flow, step, others, max, stage }
}

async fn claim(kit: &QueueKit, claim: &StepClaim) -> Claimed {
    kit.queues().claim_step(claim).await.expect("a claim")
}

async fn holding(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    let gpu = kit.jobs.name("gpu");
    let flow = cx.flow([single("free").map(), single("held").map()]).await;
    let run = cx.start(&flow, json!([1, 2, 3, 4, 5])).await;
    let wish = wish(&flow, 9, held(&gpu));
    let nothing = kit.queues().claim_step(&wish).await;
    let is_empty = nothing.is_ok_and(|claimed| claimed.is_empty());
    assert!(is_empty, "a resource that is not there cannot be had");
    kit.queues().set_capacity(&gpu, 2).await.expect("a resource");
    let first = claim(&kit, &wish).await.tasks;
    assert_eq!(names(&first), ["held#0", "held#1"], "two units, and no task of another step");
    let look = async || kit.queues().resource(&gpu).await.expect("a look").expect("it is there");
    assert_eq!((look().await.0.fence, look().await.1), (2, 2));
    assert!(claim(&kit, &wish).await.is_empty(), "it is full");
    kit.push_named(["m".to_owned()]).await;
    assert!(kit.claim(9, &held(&gpu)).await.is_empty(), "for messages, too");
    cx.settle(&first[0].lease, completed(1)).await;
    assert_eq!(look().await.1, 1, "what is done holds nothing");
    let message = kit.claim(9, &held(&gpu)).await;
    assert_eq!(message.len(), 1);
    assert!(claim(&kit, &wish).await.is_empty(), "messages hold of the same");
    kit.finish(&message[0]).await;
    cx.settle(&first[1].lease, RELEASED).await;
    assert_eq!(look().await.1, 0, "nor does what was given back");
    let second = claim(&kit, &wish).await.tasks;
    assert_eq!((second.len(), look().await.1), (2, 2));
    run.advance(200).await;
    cx.sweep().await;
    assert_eq!(look().await.1, 0, "nor who is lost");
    assert_eq!(claim(&kit, &wish).await.tasks.len(), 2);
    assert_eq!(look().await.0.fence, 7, "each grant has a number");
}

async fn sharing(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    let gpu = kit.jobs.name("gpu");
    kit.queues().set_capacity(&gpu, 1).await.expect("a resource");
    let flow = cx.flow([single("free"), single("held").map()]).await;
    cx.start(&flow, json!((0..20).collect::<Vec<_>>())).await;
    for round in 0..cx.rounds(3, 20) {
        let mut claims = Vec::new();
        for _ in 0..4 {
            let (other, wish) = (kit.another().await, wish(&flow, 3, held(&gpu)));
            claims.push(tokio::spawn(async move { claim(&other, &wish).await.tasks }));
        }
        let mut got = Vec::new();
        for claim in claims {
            got.extend(claim.await.expect("a claim"));
        }
        assert_eq!(got.len(), 1, "round {round}: {got:?}");
        cx.settle(&got[0].lease, RELEASED).await;
    }
}

async fn rated(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    let slug = kit.jobs.name("openai");
    let stage = Stage { rates: vec![slug.clone()], ..Stage::default() };
    let flow = cx.flow([single("free"), single("held").map()]).await;
    cx.start(&flow, json!([1, 2, 3, 4, 5])).await;
    let wish = wish(&flow, 9, stage);
    let unknown = kit.queues().claim_step(&wish).await.expect_err("nobody said how many");
    let BackendError::Permit(PermitProblem::UnknownRate(named)) = unknown else {
        panic!("another error: {unknown}");
    };
    assert_eq!(named, slug);
    kit.queues().set_rate(&slug, Rate::per_hour(1).burst(2)).await.expect("a rate");
    assert_eq!(claim(&kit, &wish).await.tasks.len(), 2);
    let later = claim(&kit, &wish).await;
    assert!(later.is_empty());
    assert!(later.next_in.expect("the next token") > Duration::from_mins(50));
    kit.queues().set_rate(&slug, Rate::per_second(100_000).burst(9)).await.expect("a rate");
    // Where time is virtual, what was taken is forgotten no sooner.
    cx.advance(&flow, 1).await;
    assert_eq!(claim(&kit, &wish).await.tasks.len(), 3);
    assert_eq!(claim(&kit, &wish).await.next_in, None, "there are no more");
}

/// Units of a resource that are held.
async fn units(kit: &QueueKit, resource: &str) -> u32 {
    kit.queues().resource(resource).await.expect("a look").expect("it is there").1
}

/// A handler does not stop because somebody cancels its run, and its GPU is as full as before.
async fn cancelled(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    let gpu = kit.jobs.name("gpu");
    kit.queues().set_capacity(&gpu, 1).await.expect("a resource");
    let flow = cx.flow([single("free"), single("held").map()]).await;
    let wish = wish(&flow, 9, held(&gpu));
    for verdict in [completed(1), RELEASED, failed("told to stop")] {
        let run = cx.start(&flow, json!([1])).await;
        let first = claim(&kit, &wish).await.tasks;
        assert_eq!(run.cancel(None).await, Cancelled::Cancelled);
        let next = cx.start(&flow, json!([1])).await;
        assert_eq!(units(&kit, &gpu).await, 1, "it is worked on");
        assert!(claim(&kit, &wish).await.is_empty(), "so nobody else does");
        assert_eq!(cx.beat(&[&first[0].lease]).await, [Beat::Cancelled], "it is told");
        assert_eq!(units(&kit, &gpu).await, 1, "and has not answered");
        assert_eq!(cx.settle(&first[0].lease, verdict.clone()).await, Settled::RunEnded);
        assert_eq!(units(&kit, &gpu).await, 0, "{verdict:?}");
        let second = claim(&kit, &wish).await.tasks;
        assert_eq!(names(&second), ["held#0"], "{verdict:?}");
        assert_eq!(cx.settle(&first[0].lease, RELEASED).await, Settled::RunEnded);
        assert_eq!(units(&kit, &gpu).await, 1, "what is said again frees nothing of others");
        next.done(&second[0], 1).await;
        assert_eq!(units(&kit, &gpu).await, 0);
    }
}

async fn failing(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    let gpu = kit.jobs.name("gpu");
    kit.queues().set_capacity(&gpu, 2).await.expect("a resource");
    let flow = cx.flow([single("free"), single("held").map()]).await;
    let wish = wish(&flow, 9, held(&gpu));
    let run = cx.start(&flow, json!([1, 2, 3])).await;
    let first = claim(&kit, &wish).await.tasks;
    assert_eq!(names(&first), ["held#0", "held#1"]);
    run.apply(&first[0], fatal("no")).await;
    assert_eq!(units(&kit, &gpu).await, 1, "who failed holds nothing, and the other works on");
    cx.start(&flow, json!([1, 2])).await;
    let second = claim(&kit, &wish).await.tasks;
    assert_eq!(second.len(), 1, "there is one unit");
    assert_eq!(cx.settle(&first[1].lease, completed(1)).await, Settled::RunEnded);
    assert_eq!(claim(&kit, &wish).await.tasks.len(), 1, "there is one again");
    assert_eq!(units(&kit, &gpu).await, 2);
}

/// Its process was killed, say.
async fn unheard(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    let gpu = kit.jobs.name("gpu");
    kit.queues().set_capacity(&gpu, 1).await.expect("a resource");
    let flow = cx.flow([single("free"), single("held").map()]).await;
    let wish = wish(&flow, 9, held(&gpu));
    for _ in 0..2 {
        let run = cx.start(&flow, json!([1])).await;
        assert_eq!(claim(&kit, &wish).await.tasks.len(), 1);
        run.cancel(None).await;
        cx.age(&flow, 102).await;
        assert_eq!(units(&kit, &gpu).await, 1, "a heartbeat may have promised more than that");
        assert!(claim(&kit, &wish).await.is_empty());
        cx.age(&flow, 3).await;
        assert_eq!(units(&kit, &gpu).await, 0, "no lease lasts that long");
    }
    cx.start(&flow, json!([1])).await;
    assert_eq!(claim(&kit, &wish).await.tasks.len(), 1);
    assert_eq!(units(&kit, &gpu).await, 1);
}
