//! How attempts at messages end.

use std::sync::Arc;

use pgflow_machine::job::{
    HandOver, JobProblem, JobSettings, JobSettled, JobVerdict, NewJob, check_name,
};
use pgflow_machine::permit::{MessageEnd, Stage};

use super::{QueueKit, batches, done, settles};
use crate::Check;
use crate::check::check;
use crate::kit::Cx;
use crate::kit::jobs::{failed, fatal_job};

pub(super) const CHECKS: &[Check] = &[
    check!("Q10", "each message of a batch has a fence, and emits once", fenced, Pipelines),
    check!("Q11", "a key is served in order, and may wait for one that fails", serial, Pipelines),
    check!("Q46", "a lease that ran out keeps its key from no other queue", lapsed, Pipelines),
    check!("Q12", "a message that is handed over frees its key and is batched", onward, Pipelines),
    check!("Q32", "a batch key that cannot be kept is refused", odd_keys, Pipelines),
    check!("Q13", "dead messages are redriven or dropped", dead, Pipelines),
    check!("Q45", "a message that loses its workers spends its budget", poison, Pipelines),
];

/// Nobody polls the need of who has the key, and nobody sweeps.
async fn lapsed(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    for stage in [Stage::default(), batches(1, 0)] {
        let (dead, name) = if stage.batch.is_some() { ("x", "a") } else { ("y", "b") };
        kit.jobs.submit(&[kit.jobs.keyed(dead, dead, dead)]).await;
        kit.jobs.take(dead, dead).await;
        let mut message = kit.message(name);
        message.job.key = Some(kit.jobs.name(dead));
        kit.push(&[message]).await;
        let looked = kit.look(9, &stage).await;
        assert!(looked.batches.is_empty(), "{looked:?}");
        assert!(looked.next_in.is_some(), "it says when the lease runs out");
        kit.jobs.pass(61).await;
        let claimed = kit.claim(9, &stage).await;
        assert_eq!(claimed.iter().map(|it| kit.of(it)).collect::<Vec<_>>(), [[name]]);
        kit.finish(&claimed[0]).await;
    }
}

async fn fenced(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    kit.push_named(["a", "b", "c"].map(str::to_owned)).await;
    let claimed = kit.claim(1, &batches(3, 60)).await;
    let mut all = settles(&claimed[0], &done());
    for (settle, name) in all.iter_mut().zip(["a1", "b1", "c1"]) {
        settle.end.emits = vec![kit.message(name), kit.message(&format!("{name}.2"))];
    }
    all[1].hold.token = pgflow_machine::job::JobToken::new();
    let answers = kit.settle_all(&all).await;
    assert_eq!(answers, [JobSettled::Applied, JobSettled::Fenced, JobSettled::Applied]);
    let again = kit.settle_all(&all).await;
    assert_eq!(again[0], JobSettled::AlreadySettled);
    assert_eq!(kit.names(9, &Stage::default()).await, ["a1", "a1.2", "c1", "c1.2"]);
    let mut last = settles(&claimed[0], &done()).remove(1);
    let mut odd = kit.message("odd");
    odd.job.payload = "\0".into();
    last.end.emits = vec![kit.message("b1"), odd];
    let answers = kit.settle_all(&[last.clone()]).await;
    assert!(matches!(answers[0], JobSettled::Refused(_)), "{answers:?}");
    assert!(kit.names(9, &Stage::default()).await.is_empty(), "none of them, or all");
    last.end.emits.pop();
    assert_eq!(kit.settle_all(&[last]).await, [JobSettled::Applied]);
    assert_eq!(kit.names(9, &Stage::default()).await, ["b1"]);
}

async fn serial(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    let keyed = |name: &str| {
        let mut message = kit.message(name);
        message.job.key = Some(kit.jobs.name("k"));
        message
    };
    kit.push(&["a", "b", "c"].map(keyed)).await;
    let plain = Stage::default();
    let a = kit.claim(9, &plain).await;
    assert_eq!((a.len(), kit.of(&a[0])), (1, vec!["a".to_owned()]), "one at a time");
    let blocks = MessageEnd { blocks: true, ..failed(100).into() };
    kit.settle(&a[0], &blocks).await;
    let blocked = kit.look(9, &plain).await;
    assert!(blocked.batches.is_empty(), "b waits for a: {blocked:?}");
    assert!(blocked.next_in.is_some(), "it says when a is tried again");
    kit.jobs.pass(101).await;
    let again = kit.claim(9, &plain).await;
    assert_eq!(kit.of(&again[0]), ["a"]);
    kit.settle(&again[0], &failed(100).into()).await;
    assert_eq!(kit.names(9, &plain).await, ["b"], "without blocking, the others go on");
}

async fn onward(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    let keyed = |name: &str| {
        let mut message = kit.message(name);
        message.job.key = Some(kit.jobs.name("k"));
        message
    };
    kit.push(&["a", "b", "c"].map(keyed)).await;
    for (name, batch_key) in [("a", "x"), ("b", "y"), ("c", "x")] {
        let claimed = kit.claim(9, &Stage::default()).await;
        assert_eq!(kit.of(&claimed[0]), [name]);
        let to = HandOver {
            payload: Some(name.into()),
            frees_key: true,
            ..HandOver::to(kit.jobs.name("q"))
        };
        // Back to the same queue, whose other stage has batches of two.
        let to = HandOver { need: kit.jobs.name("batches"), ..to };
        let batch_key = Some(batch_key.to_owned());
        let end = MessageEnd { batch_key, ..JobVerdict::HandedOver(to).into() };
        assert_eq!(kit.settle(&claimed[0], &end).await, [JobSettled::Applied]);
    }
    let claim = pgflow_runtime::backend::StageClaim {
        stage: batches(2, 3600),
        ..pgflow_runtime::backend::StageClaim::new("worker", &kit.jobs.name("batches"), 9)
    };
    let claimed = kit.queues().claim_stage(&claim).await.expect("a claim").batches;
    assert_eq!(claimed.iter().map(|batch| kit.of(batch)).collect::<Vec<_>>(), [["a", "c"]]);
    assert_eq!(claimed[0].messages[0].payload, "a");
}

/// Wherever it comes from; and the attempt can still end otherwise.
async fn odd_keys(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    kit.push_named(["a", "b"].map(str::to_owned)).await;
    let claimed = kit.claim(9, &Stage::default()).await;
    let need = kit.jobs.name("batches");
    let end = |batch_key: String| MessageEnd {
        batch_key: Some(batch_key),
        ..JobVerdict::HandedOver(HandOver::to(need.clone())).into()
    };
    for odd in [String::new(), "k".repeat(129), "\0".to_owned()] {
        let mut both = settles(&claimed[0], &end(odd.clone()));
        let mut emits = kit.message("emitted");
        emits.columns.batch_key = Some(odd.clone());
        let emits = MessageEnd { emits: vec![emits], ..done() };
        both.extend(settles(&claimed[1], &emits));
        for answer in kit.settle_all(&both).await {
            let problem = JobProblem::Name {
                what: "batch key",
                why: check_name(&odd).expect_err("it is odd"),
            };
            assert_eq!(answer, JobSettled::Refused(problem));
        }
    }
    assert_eq!(kit.settle(&claimed[0], &end("k".repeat(128))).await, [JobSettled::Applied]);
    kit.finish(&claimed[1]).await;
    let kept = kit.queues().message(&kit.jobs.id("a")).await.expect("a look").expect("it is kept");
    assert_eq!(kept.batch_key, Some("k".repeat(128)));
}

async fn dead(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    kit.push_named(["a", "b"].map(str::to_owned)).await;
    for batch in kit.claim(9, &Stage::default()).await {
        kit.settle(&batch, &fatal_job().into()).await;
    }
    kit.jobs.expect(&[("a", "failed"), ("b", "failed")]).await;
    let (a, b) = (kit.jobs.id("a"), kit.jobs.id("b"));
    assert_eq!(kit.queues().drop_dead(&[a]).await.expect("a drop"), 1);
    let redriven = kit.jobs.jobs().redrive_jobs(&[b], "me", std::time::Duration::ZERO).await;
    redriven.expect("a redrive");
    assert_eq!(kit.names(9, &Stage::default()).await, ["b"]);
}

/// Whatever the threshold of jobs says; the next of its key waits until it is dead. A job with as many attempts is set aside.
async fn poison(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    let (plain, queue) = (Stage::default(), Stage { of_queue: true, ..Stage::default() });
    let stages = [(kit.jobs.name("q"), queue)].into();
    kit.queues().note_stages(&stages).await.expect("a note");
    let keyed = |name: &str| {
        let mut message = kit.message(name);
        (message.job.key, message.job.max_attempts) = (Some(kit.jobs.name("k")), Some(8));
        message
    };
    kit.push(&["a", "b"].map(keyed)).await;
    let job = kit.jobs.job("job", "n");
    kit.jobs.submit(&[NewJob { max_attempts: Some(8), ..job }]).await;
    let settings = kit.jobs.jobs().job_settings().await.expect("settings");
    for attempt in 1..=8 {
        let claimed = kit.claim(9, &plain).await;
        assert_eq!(claimed.iter().map(|it| kit.of(it)).collect::<Vec<_>>(), [["a"]], "{attempt}");
        if attempt <= 6 {
            kit.jobs.take("job", "n").await;
        }
        kit.jobs.pass(61).await;
        if attempt % 2 == 0 {
            kit.jobs.sweep().await;
        }
        if attempt == 7 {
            let failing = kit.claim(9, &plain).await;
            let answers = kit.settle(&failing[0], &JobVerdict::Released.into()).await;
            assert_eq!(answers, [JobSettled::Applied]);
            for crash_threshold in [1, settings.crash_threshold] {
                let changed = JobSettings { crash_threshold, ..settings };
                kit.jobs.jobs().set_job_settings(changed).await.expect("settings can be set");
                kit.jobs.expect(&[("a", "READY")]).await;
            }
        }
    }
    kit.jobs.sweep().await;
    kit.jobs.expect(&[("a", "crashed"), ("job", "CRASH_CONCERN")]).await;
    assert!(!kit.jobs.trace("a").await.contains(&"concern"));
    assert_eq!(kit.names(9, &plain).await, ["b"]);
}
