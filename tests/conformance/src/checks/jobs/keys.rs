//! One leased job per key.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use pgflow_machine::job::{JobVerdict, Moment, NewJob};

use crate::Check;
use crate::check::check;
use crate::kit::Cx;
use crate::kit::jobs::{JobKit, LEASE, failed, fatal_job, hand_over};

pub(crate) const CHECKS: &[Check] = &[
    check!("J17", "one leased job per key, in a batch and over all needs", exact, Jobs),
    check!("J18", "every way out frees the key for the next in line", ways_out, Jobs),
    check!("J19", "no key is held twice, whoever claims at the same time", overlap, Jobs),
    check!("J50", "a lease that ran out keeps its key from no other need", lapsed, Jobs),
];

async fn exact(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    kit.submit(&["a", "b", "c"].map(|name| kit.keyed(name, "n", "k"))).await;
    kit.submit(&[kit.keyed("d", "m", "k"), kit.keyed("other", "n", "l")]).await;
    let holds = kit.claim(&["m", "n"], 9).await;
    let names: Vec<_> = holds.iter().map(|job| kit.short(job.taken.hold.job.as_str())).collect();
    assert_eq!(names, ["a", "other"]);
    kit.expect(&[("b", "READY"), ("d", "READY")]).await;
    assert_eq!(kit.names(&["n", "m"], 9).await, [""; 0]);
    kit.submit(&[NewJob { priority: 1, ..kit.keyed("urgent", "n", "k") }]).await;
    kit.finish(&holds[0].taken.hold).await;
    let d = kit.take("d", "m").await;
    assert_eq!(
        kit.names(&["n"], 9).await,
        [""; 0],
        "an unleased head of another need keeps nobody; a lease does"
    );
    kit.finish(&d).await;
    for name in ["urgent", "b", "c"] {
        let hold = kit.take(name, "n").await;
        assert_eq!(kit.names(&["n", "m"], 9).await, [""; 0]);
        kit.finish(&hold).await;
    }
}

async fn ways_out(cx: Arc<Cx>) {
    for way in 0..7 {
        let kit = JobKit::new(&cx);
        let hour = Some(Moment::In(Duration::from_hours(1)));
        kit.submit(&[
            kit.job("other", "other"),
            kit.keyed("a", "n", "k"),
            kit.keyed("b", "n", "k"),
        ])
        .await;
        let a = kit.take("a", "n").await;
        let asleep = pgflow_machine::job::HandOver {
            wake: hour,
            ..pgflow_machine::job::HandOver::to(kit.name("n"))
        };
        match way {
            0 => kit.finish(&a).await,
            1 => drop(kit.settle(&a, fatal_job()).await),
            2 => drop(kit.settle(&a, failed(600)).await),
            3 => drop(kit.settle(&a, JobVerdict::HandedOver(asleep)).await),
            4 => drop(kit.settle(&a, hand_over(&kit, "n", &[kit.on("other")])).await),
            5 => {
                kit.cancel("a").await;
                kit.settle(&a, JobVerdict::Released).await;
            }
            _ => {
                kit.pass(100).await;
                kit.cancel("a").await;
            }
        }
        let b = kit.take("b", "n").await;
        kit.finish(&b).await;
    }
    let kit = JobKit::new(&cx);
    kit.submit(&["a", "b", "c", "d"].map(|name| kit.keyed(name, "n", "k"))).await;
    let several = ["a", "b", "c"].map(|name| kit.id(name));
    kit.jobs().cancel_jobs(&several, "me", None).await.expect("several of a line may go at once");
    kit.take("d", "n").await;
}

/// Nobody polls the need of who has the key, and nobody sweeps.
async fn lapsed(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    kit.submit(&[kit.keyed("a", "dead", "k"), kit.keyed("other", "dead", "l")]).await;
    kit.claim(&["dead"], 2).await;
    kit.submit(&[kit.keyed("b", "n", "k"), kit.job("later", "n")]).await;
    let claimed = kit.look(&["n"], 9).await;
    assert_eq!(claimed.jobs.len(), 1, "nobody's key is taken away: {claimed:?}");
    let minute = Duration::from_secs(LEASE);
    assert!(claimed.next_in.is_some_and(|next| next <= minute), "then it can be had: {claimed:?}");
    kit.pass(LEASE + 1).await;
    kit.expect(&[("b", "READY")]).await;
    let b = kit.take("b", "n").await;
    kit.expect(&[("a", "READY"), ("other", "READY")]).await;
    assert_eq!(kit.record("a").await.summary.row.lapses, 1);
    assert_eq!(kit.record("other").await.summary.row.lapses, 0, "it is in nobody's way");
    assert_eq!(kit.names(&["dead"], 9).await, ["other"]);
    kit.finish(&b).await;
    kit.take("a", "dead").await;
}

/// Eight that claim different needs, side by side, on connections of their own.
async fn overlap(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    let (keys, rounds) = (3, cx.rounds(8, 60));
    let mut jobs = Vec::new();
    for n in 0..rounds * keys {
        let (need, key) = (format!("n{}", n % 4), format!("k{}", n % keys));
        jobs.push(kit.keyed(&format!("j{n}"), &need, &key));
    }
    kit.submit(&jobs).await;
    let held: tokio::sync::Mutex<HashSet<String>> = tokio::sync::Mutex::default();
    let finished = std::sync::atomic::AtomicUsize::new(0);
    let workers = (0..8).map(|n| {
        let (kit, held, finished, all) = (&kit, &held, &finished, jobs.len());
        async move {
            let own = kit.another().await;
            let need = [format!("n{}", n % 4), format!("n{}", (n + 1) % 4)];
            let needs: Vec<_> = need.iter().map(String::as_str).collect();
            while finished.load(std::sync::atomic::Ordering::SeqCst) < all {
                for job in own.claim(&needs, 3).await {
                    let key = job.taken.row.key.clone().expect("a key");
                    assert!(held.lock().await.insert(key.clone()), "{key} is held twice");
                    tokio::task::yield_now().await;
                    assert!(held.lock().await.remove(&key));
                    own.finish(&job.taken.hold).await;
                    finished.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                }
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
    });
    join_all(workers).await;
}
