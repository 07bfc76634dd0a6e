//! Settles that carry more than their verdict: new jobs, and a need's own SQL.

use std::sync::Arc;

use pgflow_machine::job::{JobHold, JobSettle, JobSettled, JobVerdict, NewJob};
use pgflow_runtime::backend::BackendError;
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::Cx;
use crate::kit::jobs::{JobKit, done, hand_over};

pub(crate) const CHECKS: &[Check] = &[
    check!(
        "J33",
        "jobs that a handler forks come with its settle, once, or not at all",
        forks,
        Jobs
    ),
    check!("J34", "a need's transaction records its end once, or nothing", transactions, Jobs),
];

fn forking(hold: &JobHold, verdict: JobVerdict, submits: &[NewJob]) -> JobSettle {
    JobSettle { hold: hold.clone(), verdict, submits: submits.to_vec() }
}

async fn forks(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    kit.submit(&[kit.job("a", "n")]).await;
    let a = kit.take("a", "n").await;
    let children = [kit.keyed("c1", "child", "k"), kit.after("c2", "child", &[kit.on("c1")])];
    let bad = [
        forking(&a, done(), &[kit.job("c1", "child"), kit.after("c2", "child", &[kit.on("x")])]),
        forking(&a, hand_over(&kit, "m", &[kit.on("c1"), kit.on("x")]), &children),
        forking(
            &a,
            hand_over(&kit, "m", &[kit.on("c1")]),
            &[kit.after("c1", "child", &[kit.on("a")])],
        ),
        forking(&a, JobVerdict::Finished(json!("\0")), &children),
    ];
    for settle in bad {
        let outcome = kit.settle_all(&[settle]).await.remove(0);
        assert!(matches!(outcome, JobSettled::Refused(_)), "{outcome:?}");
    }
    let nobody = kit.jobs().job(&kit.id("c1")).await.expect("a look");
    assert_eq!(nobody, None, "what is refused forks nothing");
    let settle = forking(&a, hand_over(&kit, "m", &[kit.on("c1"), kit.on("c2")]), &children);
    let twice = [settle.clone(), settle];
    let outcomes = kit.settle_all(&twice).await;
    assert_eq!(outcomes, [JobSettled::Applied, JobSettled::AlreadySettled]);
    kit.expect(&[("a", "PENDING_JOBS"), ("c1", "READY"), ("c2", "PENDING_JOBS")]).await;
    for name in ["c1", "c2"] {
        let child = kit.take(name, "child").await;
        kit.finish(&child).await;
    }
    let again = kit.take("a", "m").await;
    let zombie = forking(&a, JobVerdict::Released, &[kit.job("late", "child")]);
    assert_eq!(kit.settle_all(&[zombie]).await, [JobSettled::AlreadySettled]);
    kit.finish(&again).await;
    assert_eq!(kit.names(&["child"], 9).await, [""; 0]);
}

async fn transactions(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    kit.submit(&["a", "b", "c"].map(|name| kit.job(name, "n"))).await;
    let a = kit.take("a", "n").await;
    if !cx.backend().abilities().transactions {
        let refused = kit.jobs().begin_job(&a).await;
        assert!(matches!(refused, Err(BackendError::Unsupported { .. })), "{:?}", refused.err());
        return;
    }
    let begin = async |hold: &JobHold| kit.jobs().begin_job(hold).await.expect("an answer");
    let tx = begin(&a).await.expect("the lease holds");
    let settle = forking(&a, done(), &[kit.job("child", "m")]);
    let settled = kit.jobs().commit_job(tx, &settle, "worker").await.expect("a commit");
    assert_eq!(settled, JobSettled::Applied);
    kit.expect(&[("a", "done"), ("child", "READY")]).await;
    assert!(begin(&a).await.is_none(), "it is done");
    let b = kit.take("b", "n").await;
    drop(begin(&b).await.expect("the lease holds"));
    kit.expect(&[("b", "ACTIVE")]).await;
    let refused = begin(&b).await.expect("the lease holds");
    let settle = forking(&b, hand_over(&kit, "m", &[kit.on("nowhere")]), &[kit.job("no", "m")]);
    let outcome = kit.jobs().commit_job(refused, &settle, "worker").await.expect("an answer");
    assert!(matches!(outcome, JobSettled::Refused(_)), "{outcome:?}");
    kit.cancel("b").await;
    assert!(begin(&b).await.is_none(), "cancelled");
    let zombie = kit.take("c", "n").await;
    kit.pass(100).await;
    kit.sweep().await;
    assert!(begin(&zombie).await.is_none(), "lapsed");
    assert_eq!(kit.names(&["m"], 9).await, ["child"]);
}
