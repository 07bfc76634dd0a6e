//! Several processes at once.

use std::collections::BTreeSet;
use std::sync::Arc;

use pgflow_machine::job::{JobSettled, JobVerdict};
use pgflow_machine::permit::{MessageEnd, Stage, Trigger};

use super::{QueueKit, batches, done, held, settles};
use crate::Check;
use crate::check::check;
use crate::kit::Cx;

pub(super) const CHECKS: &[Check] = &[
    check!("Q14", "claims at the same time take each message once", once, Pipelines),
    check!("Q15", "claims at the same time form whole batches", whole, Pipelines),
    check!("Q16", "of settles at the same time one takes effect and emits", emits, Pipelines),
    check!("Q17", "units change hands, and are never held twice", hands, Pipelines),
];

/// What four processes do at once.
async fn four<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
    kit: &QueueKit,
    what: impl Fn(QueueKit) -> F,
) -> Vec<T> {
    let mut tasks = Vec::new();
    for _ in 0..4 {
        tasks.push(tokio::spawn(what(kit.another().await)));
    }
    let mut all = Vec::new();
    for task in tasks {
        all.push(task.await.expect("a process"));
    }
    all
}

async fn once(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    let number = cx.rounds(60, 400);
    kit.push_named((0..number).map(|at| format!("{at:04}"))).await;
    let got = four(&kit, |other| async move {
        let mut got = Vec::new();
        loop {
            let names = other.names(7, &Stage::default()).await;
            if names.is_empty() {
                return got;
            }
            got.extend(names);
        }
    });
    let got: Vec<_> = got.await.into_iter().flatten().collect();
    let different: BTreeSet<_> = got.iter().collect();
    assert_eq!((got.len(), different.len()), (number, number));
}

async fn whole(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    kit.push_named((0..70).map(|at| format!("{at:02}"))).await;
    let got = four(&kit, |other| async move {
        let mut got = Vec::new();
        for _ in 0..5 {
            got.extend(other.claim(2, &batches(8, 3600)).await);
        }
        got
    });
    let got: Vec<_> = got.await.into_iter().flatten().collect();
    assert_eq!(got.len(), 8, "70 messages are 8 batches of 8, and 6 that wait");
    for batch in got {
        assert_eq!((batch.messages.len(), batch.trigger), (8, Some(Trigger::Size)));
    }
}

async fn emits(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    for round in 0..cx.rounds(5, 50) {
        let names = ["a", "b", "c"].map(|name| format!("{round}{name}"));
        kit.push_named(names.clone()).await;
        let claimed = kit.claim(1, &batches(3, 3600)).await;
        let mut all = settles(&claimed[0], &done());
        for (settle, name) in all.iter_mut().zip(&names) {
            settle.end.emits =
                vec![kit.message(&format!("{name}1")), kit.message(&format!("{name}2"))];
        }
        // Some come in another order: nobody waits in a ring.
        let other_way: Vec<_> = all.iter().rev().cloned().collect();
        let answers = four(&kit, |other| {
            let mine = if round % 2 == 0 { all.clone() } else { other_way.clone() };
            async move { other.settle_all(&mine).await }
        });
        let answers = answers.await.concat();
        let applied = answers.iter().filter(|answer| **answer == JobSettled::Applied).count();
        assert_eq!(applied, 3, "round {round}: {answers:?}");
        let emitted = kit.claim(9, &Stage::default()).await;
        assert_eq!(emitted.len(), 6, "round {round}");
        for batch in &emitted {
            kit.finish(batch).await;
        }
    }
}

/// Four processes take and give back what there is one of: grants are numbered one by one, and of two that hold it at once one is
/// not the last.
async fn hands(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    let gpu = kit.jobs.name("gpu");
    kit.queues().set_capacity(&gpu, 1).await.expect("a resource");
    kit.push_named((0..12).map(|at| format!("{at:02}"))).await;
    let (rounds, slug) = (cx.rounds(10, 100), gpu.clone());
    let grants = four(&kit, move |other| {
        let gpu = slug.clone();
        async move {
            let mut grants = Vec::new();
            for _ in 0..rounds {
                for batch in other.claim(2, &held(&gpu)).await {
                    let (resource, units) =
                        other.queues().resource(&gpu).await.expect("a look").expect("there");
                    let fence = batch.fences[&gpu];
                    assert_eq!((units, resource.fence), (1, fence), "while it is held");
                    grants.push(fence);
                    other.settle(&batch, &MessageEnd::from(JobVerdict::Released)).await;
                }
            }
            grants
        }
    });
    let mut grants = grants.await.concat();
    grants.sort_unstable();
    let expected: Vec<_> = (1..=grants.len() as u64).collect();
    assert_eq!(grants, expected, "each grant has a number of its own");
    assert!(!grants.is_empty());
}
