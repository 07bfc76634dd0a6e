//! Many at the same time.

use std::collections::HashSet;
use std::sync::Arc;

use futures_util::future::{join, join_all, join3};
use pgflow_machine::job::{JobSettled, Wait};
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::jobs::{JobKit, hand_over};
use crate::kit::{Cx, completed, single};

pub(crate) const CHECKS: &[Check] = &[
    check!(
        "J30",
        "no wake-up is lost when a submit races with the end it waits for",
        wake_ups,
        Jobs
    ),
    check!("J31", "a job is leased once, however many claim", claims, Jobs),
    check!("J32", "a name that several submit at once is one job", same_name, Jobs),
    check!(
        "J47",
        "no wake-up is lost when a run ends while jobs begin to wait for it",
        ends_of_runs,
        Jobs
    ),
];

async fn wake_ups(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    let other = kit.another().await;
    let pairs = cx.rounds(40, 2_000);
    for part in (0..pairs).collect::<Vec<_>>().chunks(8) {
        let dependencies: Vec<_> =
            part.iter().map(|n| kit.job(&format!("d{n}"), "first")).collect();
        kit.submit(&dependencies).await;
        let holds = kit.claim(&["first"], 8).await;
        let pair = |at: usize| {
            let (kit, other, hold) = (&kit, &other, holds[at].taken.hold.clone());
            async move {
                let wait = Wait::job(hold.job.clone());
                let waiter =
                    [kit.after(&format!("w{}", kit.short(hold.job.as_str())), "n", &[wait])];
                join(kit.finish(&hold), other.submit(&waiter)).await;
            }
        };
        join_all((0..holds.len()).map(pair)).await;
    }
    let mut had = 0;
    while had < pairs {
        let claimed = kit.claim(&["n"], 50).await.len();
        assert_ne!(claimed, 0, "{} of {pairs} wake-ups were lost", pairs - had);
        had += claimed;
    }
}

/// One job is submitted to wait for the run, another is handed over, each on a connection of its own.
async fn ends_of_runs(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    let [submitting, handing] = [kit.another().await, kit.another().await];
    let rounds = cx.rounds(30, 1_000);
    let flow = cx.flow([single("a")]).await;
    for n in 0..rounds {
        let run = cx.start(&flow, json!({})).await;
        let [task] = run.take(["a#0"]).await;
        let other = format!("h{n}");
        kit.submit(&[kit.job(&other, "first")]).await;
        let hold = kit.take(&other, "first").await;
        let wait = [Wait::run(run.id)];
        let new = [kit.after(&format!("w{n}"), "n", &wait)];
        // By turns, so that each of them is the first to go.
        let turn = |of: usize| async move {
            for _ in 0..(n + of) % 3 * 4 {
                tokio::task::yield_now().await;
            }
        };
        let end = async {
            turn(0).await;
            cx.settle(&task.lease, completed(1)).await;
        };
        let submit = async {
            turn(1).await;
            submitting.submit(&new).await;
        };
        let hand = async {
            turn(2).await;
            handing.settle(&hold, hand_over(&kit, "n", &wait)).await
        };
        let ((), (), handed) = join3(end, submit, hand).await;
        assert_eq!(handed, JobSettled::Applied);
    }
    kit.sweep().await;
    let mut had = 0;
    while had < 2 * rounds {
        let claimed = kit.claim(&["n"], 50).await.len();
        assert_ne!(claimed, 0, "{} of {} wake-ups were lost", 2 * rounds - had, 2 * rounds);
        had += claimed;
    }
}

async fn claims(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    let many = cx.rounds(120, 5_000);
    let jobs: Vec<_> = (0..many).map(|n| kit.job(&format!("j{n}"), "n")).collect();
    kit.submit(&jobs).await;
    let workers = (0..4).map(|_| async {
        let (own, mut had) = (kit.another().await, Vec::new());
        let mut misses = 0;
        // One empty claim may be because others hold the locks of all that is left.
        while misses < 5 {
            let claimed = own.claim(&["n"], 7).await;
            misses = if claimed.is_empty() { misses + 1 } else { 0 };
            had.extend(claimed.into_iter().map(|job| job.taken.hold));
        }
        had
    });
    let had: Vec<_> = join_all(workers).await.into_iter().flatten().collect();
    let jobs: HashSet<_> = had.iter().map(|hold| &hold.job).collect();
    let tokens: HashSet<_> = had.iter().map(|hold| &hold.token).collect();
    assert_eq!((had.len(), jobs.len(), tokens.len()), (many, many, many));
}

async fn same_name(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    let clients = join_all((0..4).map(|_| kit.another())).await;
    for n in 0..cx.rounds(10, 200) {
        let job = [kit.job(&format!("j{n}"), "n")];
        let answers = join_all(clients.iter().map(|client| client.try_submit(&job))).await;
        let new = answers
            .iter()
            .filter(|answer| matches!(answer[0], Ok(pgflow_machine::job::Submitted::Submitted)));
        assert_eq!(new.count(), 1, "{answers:?}");
    }
}
