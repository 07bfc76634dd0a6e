//! Each reason, made real.

use std::time::Duration;

use pgflow::backend::{Claim, ClaimedTask, WorkerCard};
use pgflow::{Db, RunId};
use pgflow_machine::{Retry, Settle, Until, Verdict, WorkerId};
use pgflow_worker_tests::{Fresh, Outcome};

use crate::place::{change, each, json, pgflow, slow, sums};

/// The codes of the reasons why a run does not move, and what it ends with.
async fn codes(place: &Fresh, run: RunId) -> Vec<String> {
    let why = json(&place.url, &["why", &run.to_string()]).await;
    let reasons = why["reasons"].as_array().expect("reasons").iter();
    reasons
        .map(|reason| {
            format!(
                "{} {}",
                reason["code"].as_str().unwrap(),
                reason["step"].as_str().unwrap_or("-")
            )
        })
        .collect()
}

async fn sign_on(db: &Db, slots: u32) -> Outcome<WorkerCard> {
    let card = WorkerCard {
        id: WorkerId::new(),
        host: Some("elsewhere".to_owned()),
        pid: 1,
        queues: vec!["sums".to_owned(), "slow".to_owned()],
        slots,
    };
    db.backend().sign_on(&card).await?;
    Ok(card)
}

async fn claim(db: &Db, worker: WorkerId, flow: &str) -> Outcome<Vec<ClaimedTask>> {
    let claim = Claim::of_queues([flow], 1, worker);
    Ok(db.backend().claim(&claim).await?.tasks)
}

async fn settle(db: &Db, task: &ClaimedTask, verdict: Verdict) -> Outcome {
    let settle = Settle { lease: task.lease.clone().into(), verdict };
    db.backend().settle(&[settle], None).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_serves_it_it_begins_later_and_others_wait() -> Outcome {
    for place in each().await? {
        let run = place.db.start(slow::Flow, &1).await?.id();
        assert_eq!(
            codes(&place, run).await,
            ["delayed later", "no-worker work", "dependencies both"]
        );
        let why = pgflow(&place.url, &["why", &run.to_string()]).await;
        assert_eq!(why.code(), 1, "{}", why.text());
        assert!(why.stdout().contains("no worker serves `slow`"), "{}", why.text());
        assert!(why.stdout().contains("`both` waits for `later`, `work`"), "{}", why.text());
        assert!(why.stdout().contains("begins in 59 min, as the flow says"), "{}", why.text());
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_started_it_wants_it_later() -> Outcome {
    for place in each().await? {
        let run = place.db.start(slow::Flow, &1).delay(Duration::from_hours(3)).await?.id();
        assert_eq!(codes(&place, run).await[..2], ["delayed later", "delayed work"]);
        let why = pgflow(&place.url, &["why", &run.to_string()]).await;
        assert_eq!(why.code(), 0, "{}", why.text());
        let said = "`work` begins in 2 h, as whoever started the run asked";
        assert!(why.stdout().contains(said), "{}", why.text());
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_have_it_are_busy_or_will_take_it() -> Outcome {
    for place in each().await? {
        let db = &place.db;
        let card = sign_on(db, 1).await?;
        let one = db.start(sums::Flow, &vec![1]).await?.id();
        assert_eq!(codes(&place, one).await[0], "ready first");
        claim(db, card.id, "sums").await?;
        assert_eq!(codes(&place, one).await[0], "running first");
        let other = db.start(sums::Flow, &vec![1]).await?.id();
        assert_eq!(codes(&place, other).await[0], "busy first");
        assert_eq!(
            pgflow(&place.url, &["why", &other.to_string()]).await.code(),
            0,
            "patience helps"
        );
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn attempts_failed_or_were_held_back() -> Outcome {
    for place in each().await? {
        let db = &place.db;
        let card = sign_on(db, 9).await?;
        let run = db.start(slow::Flow, &1).await?.id();
        let task = claim(db, card.id, "slow").await?.remove(0);
        let failed = Verdict::Failed { error: "no answer".to_owned(), retry: Retry::ByPolicy };
        settle(db, &task, failed).await?;
        assert_eq!(codes(&place, run).await[1], "backoff work");
        let why = pgflow(&place.url, &["why", &run.to_string()]).await;
        assert!(why.stdout().contains("the last error was: no answer"), "{}", why.text());
        let shown = pgflow(&place.url, &["show", &run.to_string()]).await.stdout();
        assert!(shown.contains("▶ work  started  1 attempt  "), "{shown}");

        let run = db.start(slow::Flow, &1).await?.id();
        let task = claim(db, card.id, "slow").await?.remove(0);
        let after = Duration::from_mins(5);
        settle(
            db,
            &task,
            Verdict::Yielded { reason: "no code for it".to_owned(), until: Until::After(after) },
        )
        .await?;
        assert_eq!(codes(&place, run).await[1], "held-back work");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_is_lost_and_lost_again() -> Outcome {
    for place in each().await? {
        let db = &place.db;
        let card = sign_on(db, 9).await?;
        let run = db.start(slow::Flow, &1).await?.id();
        claim(db, card.id, "slow").await?;
        silence(&place.url).await?;
        assert_eq!(codes(&place, run).await[1], "lost-worker work");
        // Its lease is the timeout and two seconds.
        tokio::time::sleep(Duration::from_millis(3_500)).await;
        while db.backend().sweep().await?.requeued == 0 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let codes = codes(&place, run).await;
        assert!(codes.contains(&"crashes work".to_owned()), "{codes:?}");
        let why = pgflow(&place.url, &["why", &run.to_string()]).await;
        assert!(why.code() == 1 && why.stdout().contains("lost its worker once"), "{}", why.text());
    }
    Ok(())
}

/// As if nothing had been heard of any worker for an hour.
pub(crate) async fn silence(url: &str) -> Outcome {
    change(
        url,
        "update pgflow_workers set seen_at = seen_at - 3600000000",
        "update pgflow.workers set last_heartbeat_at = last_heartbeat_at - interval '1 hour'",
    )
    .await
}
