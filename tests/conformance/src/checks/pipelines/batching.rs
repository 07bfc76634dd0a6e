//! Batches that the claim forms.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::job::JobVerdict;
use pgflow_machine::permit::{
    BatchRule, Columns, FormedBatches, Message, PermitProblem, Stage, Trigger,
};
use pgflow_runtime::backend::{BackendError, ClaimedBatch, ClaimedBatches, StageClaim};
use serde_json::json;

use super::{QueueKit, batches, settles};
use crate::Check;
use crate::check::check;
use crate::kit::Cx;
use crate::kit::jobs::failed;

pub(super) const CHECKS: &[Check] = &[
    check!("Q01", "a batch is formed of what any process pushed", of_all, Pipelines),
    check!("Q02", "a batch that is not full waits for its oldest message", waits, Pipelines),
    check!("Q03", "batches have a limit in bytes, and are of one key", bytes_and_keys, Pipelines),
    check!("Q24", "what a claim hands out is bounded in bytes", bounded, Pipelines),
    check!("Q19", "a batch waits from when its messages can be had again", again, Pipelines),
    check!("Q36", "what was lost with its worker goes alone", alone, Pipelines),
    check!("Q37", "a full resource keeps no batch waiting", around, Pipelines),
    check!("Q38", "a batch is found however scattered its key is", scattered, Pipelines),
    check!("Q44", "batches are counted as they are formed", counted, Pipelines),
    check!("Q31", "a batch may have as many messages as a claim looks at", longest, Pipelines),
];

async fn of_all(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    let (other, stage) = (kit.another().await, batches(32, 3600));
    kit.push_named((0..16).map(|at| format!("a{at:02}"))).await;
    other.push_named((0..15).map(|at| format!("b{at:02}"))).await;
    let young = kit.look(9, &stage).await;
    assert!(young.batches.is_empty(), "{young:?}");
    let next_in = young.next_in.expect("it says when it will be ripe");
    assert!(next_in <= Duration::from_hours(1) && next_in > Duration::from_mins(50), "{next_in:?}");
    other.push_named(["b15".to_owned()]).await;
    let claimed = kit.claim(9, &stage).await;
    let [batch] = &claimed[..] else { panic!("one batch, and {claimed:?} came") };
    assert_eq!((batch.messages.len(), batch.trigger), (32, Some(Trigger::Size)));
    assert!(other.claim(9, &stage).await.is_empty(), "all of them are taken");
    kit.finish(batch).await;
}

async fn waits(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    let stage = batches(10, 100);
    kit.push_named(["a", "b"].map(str::to_owned)).await;
    assert!(kit.claim(9, &stage).await.is_empty());
    kit.jobs.pass(60).await;
    kit.push_named(["c".to_owned()]).await;
    assert!(kit.claim(9, &stage).await.is_empty(), "60 s are not 100 s");
    kit.jobs.pass(41).await;
    let claimed = kit.claim(9, &stage).await;
    let [batch] = &claimed[..] else { panic!("one batch, and {claimed:?} came") };
    assert_eq!((kit.of(batch).len(), batch.trigger), (3, Some(Trigger::Timeout)));
    kit.finish(batch).await;
    kit.push_named(["d".to_owned()]).await;
    assert!(kit.claim(9, &stage).await.is_empty());
    let drains = Stage { drains: true, ..stage };
    let claimed = kit.claim(9, &drains).await;
    assert_eq!(claimed[0].trigger, Some(Trigger::Drain), "whoever leaves takes what is there");
}

async fn bytes_and_keys(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    let message = |name: &str, key: &str, bytes: usize| {
        let mut message: Message = kit.message(name);
        message.job.payload = json!("x".repeat(bytes - 2));
        let batch_key = Some(key.to_owned());
        Message { columns: Columns { batch_key, ..Columns::default() }, ..message }
    };
    let rule = BatchRule { len: 9, bytes: Some(100), wait: Duration::from_hours(1) };
    let stage = Stage { batch: Some(rule), ..Stage::default() };
    kit.push(&[message("a", "k", 60), message("b", "l", 50), message("c", "k", 50)]).await;
    let claimed = kit.claim(9, &stage).await;
    assert_eq!(claimed.len(), 1, "b is of another key and light");
    assert_eq!((kit.of(&claimed[0]), claimed[0].trigger), (vec!["a".into()], Some(Trigger::Bytes)));
    kit.push(&[message("huge", "m", 500)]).await;
    let claimed = kit.claim(9, &stage).await;
    assert_eq!(claimed.iter().map(|batch| kit.of(batch)).collect::<Vec<_>>(), [["huge"]]);
    kit.push(&[message("d", "l", 50)]).await;
    let claimed = kit.claim(9, &stage).await;
    assert_eq!(claimed.iter().map(|batch| kit.of(batch)).collect::<Vec<_>>(), [["b", "d"]]);
}

/// Released, failed, lapsed and kept by their key: none of these is old because it was pushed long ago.
async fn again(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    let stage = batches(10, 100);
    let ripe = |batches: &[ClaimedBatch]| batches.iter().map(|it| kit.of(it)).collect::<Vec<_>>();
    let young = async |why: &str| {
        let looked = kit.look(9, &stage).await;
        assert!(looked.batches.is_empty(), "{why}, it is short and young: {looked:?}");
        let next_in = looked.next_in.expect("it says when it will be ripe");
        assert!(next_in > Duration::from_secs(50), "{why}, it is ripe in {next_in:?}");
        kit.jobs.pass(101).await;
        kit.claim(9, &stage).await
    };
    kit.push_named(["a", "b"].map(str::to_owned)).await;
    let first = young("new").await;
    assert_eq!(ripe(&first), [["a", "b"]]);
    let mut ends = settles(&first[0], &failed(0).into());
    ends[0].end = JobVerdict::Released.into();
    kit.settle_all(&ends).await;
    assert_eq!(ripe(&young("given back").await), [["a", "b"]]);
    kit.jobs.pass(61).await;
    let third = young("lapsed").await;
    assert_eq!(ripe(&third), [["a"]], "it was lost with its worker, and goes alone");
    kit.finish(&third[0]).await;
    let fourth = kit.claim(9, &stage).await;
    assert_eq!(ripe(&fourth), [["b"]]);
    kit.finish(&fourth[0]).await;
    kit.push(&["c", "d"].map(|name| {
        let mut keyed = kit.message(name);
        keyed.job.key = Some(kit.jobs.name("k"));
        keyed
    }))
    .await;
    let fifth = young("new").await;
    assert_eq!(ripe(&fifth), [["c"]]);
    kit.finish(&fifth[0]).await;
    assert_eq!(ripe(&young("at the head of its line").await), [["d"]]);
}

/// One of them takes its process along, each time. Whoever works on one that was lost takes no other such one, and what is new goes on.
async fn alone(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    for stage in [Stage::default(), batches(3, 0)] {
        let is_batch = stage.batch.is_some();
        let of = |names: [&str; 3]| names.map(|name| format!("{name}-{is_batch}"));
        let together = of(["a", "b", "c"]);
        kit.push_named(together.clone()).await;
        assert_eq!(kit.names(9, &stage).await, together);
        kit.jobs.pass(61).await;
        // The first one was it: it dies in its third attempt, of which each takes nobody else along.
        let [poison, others @ ..] = &together;
        assert_eq!(kit.names(9, &stage).await, [&**poison]);
        let has_lost = Stage { has_lost: true, ..stage.clone() };
        assert!(kit.names(9, &has_lost).await.is_empty(), "what was lost with it waits");
        let new = of(["d", "e", "f"]);
        kit.push_named(new.clone()).await;
        let claimed = kit.claim(9, &has_lost).await;
        let names: Vec<_> = claimed.iter().flat_map(|it| kit.of(it)).collect();
        assert_eq!(names, new, "what is new goes on");
        for batch in &claimed {
            kit.finish(batch).await;
        }
        kit.jobs.pass(61).await;
        // One after the other, the one that has waited longest first; the first one takes its process along again.
        let mut done = Vec::new();
        for _ in 0..together.len() {
            let claimed = kit.claim(9, &stage).await;
            let [lost] = &claimed[..] else { panic!("one at a time, and {claimed:?} came") };
            let [name] = &kit.of(lost)[..] else { panic!("it goes alone: {lost:?}") };
            if name != poison {
                done.push(name.clone());
                kit.finish(lost).await;
            }
        }
        assert_eq!(done, others);
        kit.jobs.pass(61).await;
        assert!(kit.claim(9, &stage).await.is_empty());
        assert_eq!(kit.jobs.standing(poison).await, "crashed");
    }
}

/// One message of a batch needs what somebody holds.
async fn around(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    let [a, b] = ["a", "b"].map(|slug| kit.jobs.name(slug));
    for slug in [&a, &b] {
        kit.queues().set_capacity(slug, 1).await.expect("a resource");
    }
    let of = |name: &str, slug: &str| Message {
        columns: Columns { resources: [(slug.to_owned(), 1)].into(), ..Columns::default() },
        ..kit.message(name)
    };
    kit.push(&[of("first", &a)]).await;
    let first = kit.claim(9, &Stage::default()).await;
    kit.push(&[of("a1", &a), of("b1", &b), of("b2", &b)]).await;
    let stage = batches(10, 0);
    let claimed = kit.claim(9, &stage).await;
    let [batch] = &claimed[..] else { panic!("one batch, and {claimed:?} came") };
    assert_eq!(kit.of(batch), ["b1", "b2"], "a is not to be had");
    assert!(batch.fences.contains_key(&b) && !batch.fences.contains_key(&a));
    kit.finish(&first[0]).await;
    assert_eq!(kit.names(9, &stage).await, ["a1"]);
}

/// More keys than a claim looks at, with three messages each, of which the last ones are behind all others.
async fn scattered(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    let keys = cx.rounds(450, 11_000);
    let of = |round: usize, key: usize| {
        let batch_key = Some(format!("k{key:05}"));
        let name = format!("{round}-{key:05}");
        Message { columns: Columns { batch_key, ..Columns::default() }, ..kit.message(&name) }
    };
    let push = async |round: usize, keys: std::ops::Range<usize>| {
        for part in keys.collect::<Vec<_>>().chunks(500) {
            kit.push(&part.iter().map(|key| of(round, *key)).collect::<Vec<_>>()).await;
        }
    };
    for round in 0..2 {
        push(round, 0..keys).await;
    }
    let stage = batches(3, 3600);
    assert!(kit.claim(2, &stage).await.is_empty(), "all of them are short and young");
    push(2, keys - 2..keys).await;
    let mut found = Vec::new();
    // Claims go on where the last one has looked to.
    for _ in 0..keys {
        found.extend(kit.claim(2, &stage).await);
        if found.len() == 2 {
            break;
        }
    }
    let mut names: Vec<_> = found.iter().map(|batch| kit.of(batch)).collect();
    names.sort();
    let of_key = |key: usize| [0, 1, 2].map(|round| format!("{round}-{key:05}")).to_vec();
    assert_eq!(names, [of_key(keys - 2), of_key(keys - 1)], "the two that are full");
    assert!(found.iter().all(|batch| batch.trigger == Some(Trigger::Size)));
    // What is ripe by time is a whole batch, whatever lies between its messages.
    push(2, 0..1).await;
    kit.jobs.pass(3601).await;
    let first = kit.claim(1, &stage).await;
    assert_eq!(kit.of(&first[0]), of_key(0));
}

/// Seventeen large messages, one by one and as a batch: a claim hands out sixteen of them, and the next one the last.
async fn bounded(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    for at in 0..17 {
        let mut message: Message = kit.message(&format!("{at:02}"));
        message.job.payload = json!("x".repeat(4_000_000 - 2));
        kit.push(&[message]).await;
    }
    let handed_out = |looked: &ClaimedBatches| -> usize {
        looked.batches.iter().map(|batch| batch.messages.len()).sum()
    };
    let singly = kit.look(50, &Stage::default()).await;
    assert_eq!(handed_out(&singly), 16, "64 MB, one by one");
    assert_eq!(singly.next_in, Some(Duration::ZERO), "there is more, at once");
    for batch in &singly.batches {
        kit.settle(batch, &JobVerdict::Released.into()).await;
    }
    let stage = batches(50, 3600);
    let together = kit.claim(50, &stage).await;
    let [batch] = &together[..] else { panic!("one batch, and {} came", together.len()) };
    assert_eq!((batch.messages.len(), batch.trigger), (16, Some(Trigger::Bytes)));
    kit.finish(batch).await;
    assert!(kit.claim(50, &stage).await.is_empty(), "what is left is both short and young");
    let last = kit.look(50, &Stage { drains: true, ..stage }).await;
    assert_eq!(handed_out(&last), 1);
}

/// With more it would never be full, whatever is there.
async fn longest(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    let most = BatchRule::MOST;
    let message = |at| {
        let mut message = kit.message(&format!("{at:05}"));
        message.job.payload = json!("x".repeat(100 - 2));
        message
    };
    kit.push(&(0..most).map(message).collect::<Vec<_>>()).await;
    let full = batches(most, 3600);
    let light = BatchRule { len: most, bytes: Some(999_900), wait: Duration::from_hours(1) };
    let light = Stage { batch: Some(light), ..Stage::default() };
    for (stage, messages, trigger) in [(light, 9_999, Trigger::Bytes), (full, most, Trigger::Size)]
    {
        let claimed = kit.claim(1, &stage).await;
        let [batch] = &claimed[..] else { panic!("one batch, and {} came", claimed.len()) };
        assert_eq!((batch.messages.len(), batch.trigger), (messages as usize, Some(trigger)));
        kit.settle(batch, &JobVerdict::Released.into()).await;
    }
    let longer = StageClaim {
        stage: batches(most + 1, 3600),
        ..StageClaim::new("worker", &kit.jobs.name("q"), 1)
    };
    let Err(BackendError::Permit(problem)) = kit.queues().claim_stage(&longer).await else {
        panic!("nobody would ever have so many");
    };
    assert_eq!(problem, PermitProblem::LongBatch(most + 1));
}

/// By whichever process, and whatever comes of them; nothing that is no batch, and nothing that was not handed out.
async fn counted(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    let (other, stage, need) = (kit.another().await, batches(3, 60), kit.jobs.name("q"));
    let formed = async || kit.queues().formed().await.expect("a look").get(&need).copied();
    let note = async |stage: &Stage| {
        let stages = [(need.clone(), stage.clone())].into();
        kit.queues().note_stages(&stages).await.expect("a note");
    };
    note(&stage).await;
    kit.push_named((0..8).map(|at| format!("m{at}"))).await;
    assert_eq!(kit.names(1, &Stage::default()).await, ["m0"]);
    assert_eq!(formed().await, None, "that was no batch");
    assert_eq!(kit.claim(1, &stage).await.len() + other.claim(9, &stage).await.len(), 2);
    assert_eq!(formed().await, Some(FormedBatches { batches: 2, messages: 6 }));
    assert!(kit.claim(9, &stage).await.is_empty(), "one is left, and young");
    assert_eq!(formed().await, Some(FormedBatches { batches: 2, messages: 6 }));
    note(&Stage { of_queue: true, ..batches(9, 60) }).await;
    let claimed = kit.claim(9, &Stage { drains: true, ..stage }).await;
    kit.settle(&claimed[0], &failed(100).into()).await;
    let all = FormedBatches { batches: 3, messages: 7 };
    assert_eq!(formed().await, Some(all), "whatever is noted anew, and comes of it");
    let noted = kit.queues().stages().await.expect("a look");
    assert_eq!(noted[&need], Stage { of_queue: true, ..batches(9, 60) });
}
