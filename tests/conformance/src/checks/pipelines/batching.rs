//! Batches that the claim forms.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::job::JobVerdict;
use pgflow_machine::permit::{BatchRule, Columns, Message, PermitProblem, Stage, Trigger};
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
    assert_eq!(ripe(&third), [["a", "b"]]);
    kit.finish(&third[0]).await;
    kit.push(&["c", "d"].map(|name| {
        let mut keyed = kit.message(name);
        keyed.job.key = Some(kit.jobs.name("k"));
        keyed
    }))
    .await;
    let fourth = young("new").await;
    assert_eq!(ripe(&fourth), [["c"]]);
    kit.finish(&fourth[0]).await;
    assert_eq!(ripe(&young("at the head of its line").await), [["d"]]);
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
