//! Queues and dead letters, as an operator meets them.

use std::time::Duration;

use pgflow::backend::StageClaim;
use pgflow::job::JobOutcome;
use pgflow::pipeline::Rate;
use pgflow_machine::job::{JobRetry, JobVerdict};
use pgflow_machine::permit::{BatchRule, Stage};
use pgflow_worker_tests::{Fresh, Outcome};
use serde_json::{Value, json as value};

use crate::doctor::codes;
use crate::jobs::{age, each_with_jobs, failed, settle, take};
use crate::place::{json, pgflow};

/// A database that runs no pipelines yet says so, and nothing else.
async fn has_pipelines(place: &Fresh, args: &[&str]) -> bool {
    if place.db.backend().pipelines().is_ok() {
        return true;
    }
    let ran = pgflow(&place.url, args).await;
    assert_eq!(ran.code(), 3, "{}", ran.text());
    assert!(ran.stderr().contains("cannot run pipelines yet"), "{}", ran.text());
    false
}

async fn submit(place: &Fresh, id: &str) -> Outcome {
    place.db.submit_raw("docs", value!(id)).id(id).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_queue_hands_out_nothing_until_it_is_resumed() -> Outcome {
    for place in each_with_jobs().await? {
        let url = &*place.url;
        submit(&place, "doc-1").await?;
        submit(&place, "doc-2").await?;
        let held = take(&place, "worker", "docs").await?;
        let paused = json(url, &["queue", "pause", "docs"]).await;
        assert_eq!(paused, value!({ "queue": "docs", "outcome": "paused", "text": "is paused" }));
        let again = pgflow(url, &["queue", "pause", "docs"]).await;
        assert!(again.stdout().contains("queue docs was paused before"), "{}", again.text());
        assert!(take(&place, "worker", "docs").await.is_err(), "it is paused: {url}");
        settle(&place, held, JobVerdict::Finished(Value::Null)).await?;
        let done = place.db.job(&"doc-1".parse()?).wait().await?;
        assert_eq!(done, JobOutcome::Done, "what is taken goes on");

        let listed = json(url, &["ls", "--queues"]).await;
        assert_eq!(listed["needs"][0]["need"], "docs");
        assert_eq!(listed["needs"][0]["is_paused"], true);
        assert_eq!(listed["needs"].as_array().map(Vec::len), Some(1), "a queue is one: {listed}");
        let depth = json(url, &["queue", "depth", "docs"]).await;
        assert_eq!((&depth["depth"], &depth["in_flight"]), (&value!(1), &value!(0)));
        assert_eq!((&depth["done_per_minute"], &depth["fill"]), (&value!(1), &Value::Null));
        assert!(depth["paused_at"].is_string(), "{depth}");
        let why = pgflow(url, &["why", "doc-2"]).await;
        assert!(why.stdout().contains("operator paused `docs`"), "{}", why.text());
        assert_eq!(why.code(), 1, "it needs somebody");
        assert_eq!(json(url, &["why", "doc-2"]).await["reasons"][0]["code"], "paused");

        assert_eq!(codes(url).await, [""; 0], "somebody has just paused it");
        age(&place, "600").await?;
        assert_eq!(codes(url).await, ["paused"], "it may be forgotten: {url}");

        assert_eq!(json(url, &["queue", "resume", "docs"]).await["outcome"], "resumed");
        assert_eq!(json(url, &["queue", "resume", "docs"]).await["outcome"], "not_paused");
        take(&place, "worker", "docs").await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn dead_letters_are_listed_redriven_and_dropped() -> Outcome {
    for place in each_with_jobs().await? {
        let url = &*place.url;
        assert_eq!(json(url, &["dead", "ls"]).await, value!({ "jobs": [], "next": null }));
        for id in ["doc-1", "doc-2", "doc-3"] {
            submit(&place, id).await?;
            settle(&place, take(&place, "worker", "docs").await?, failed(JobRetry::Never)).await?;
        }
        submit(&place, "alive").await?;
        let page = json(url, &["dead", "ls", "--limit", "2"]).await;
        assert_eq!(
            (&page["jobs"][0]["id"], &page["jobs"][1]["id"]),
            (&value!("doc-3"), &value!("doc-2"))
        );
        let next = page["next"].as_str().ok_or("there is more")?;
        let rest = json(url, &["dead", "ls", "--limit", "2", "--after", next]).await;
        assert_eq!(rest["jobs"].as_array().map(Vec::len), Some(1), "{rest}");
        assert_eq!(rest["jobs"][0]["id"], "doc-1");
        let text = pgflow(url, &["dead", "ls", "--need", "docs"]).await.stdout();
        assert!(text.contains("doc-2") && !text.contains('\u{1b}'), "{text}");
        let none = json(url, &["dead", "ls", "--need", "other"]).await;
        assert_eq!(none["jobs"], value!([]));

        let redriven = json(url, &["dead", "redrive", "doc-1"]).await;
        assert_eq!(redriven["jobs"][0]["outcome"], "redriven");
        if !has_pipelines(&place, &["dead", "drop", "doc-2"]).await {
            continue;
        }
        let dry = json(url, &["dead", "drop", "--need", "docs", "--dry-run"]).await;
        assert_eq!(dry["jobs"].as_array().map(Vec::len), Some(2), "{dry}");
        let asks = pgflow(url, &["dead", "drop", "--need", "docs"]).await;
        assert_eq!(asks.code(), 2, "more than one is asked for: {}", asks.text());
        let live = pgflow(url, &["dead", "drop", "alive"]).await;
        assert!(
            live.code() == 1 && live.stdout().contains("is not dead: it is READY"),
            "{}",
            live.text()
        );
        let dropped = pgflow(url, &["dead", "drop", "--need", "docs", "--yes"]).await;
        assert!(
            dropped.code() == 0 && dropped.stdout().contains("is dropped"),
            "{}",
            dropped.text()
        );
        assert_eq!(json(url, &["dead", "ls"]).await["jobs"], value!([]));
        assert_eq!(
            json(url, &["queue", "depth", "docs"]).await["depth"],
            2,
            "the others are there"
        );
    }
    Ok(())
}

/// As the claim counts them that forms them.
#[tokio::test(flavor = "multi_thread")]
async fn depth_says_how_full_batches_are() -> Outcome {
    for place in each_with_jobs().await? {
        let wait = Duration::from_hours(1);
        let stage = Stage {
            batch: Some(BatchRule { len: 2, bytes: None, wait }),
            of_queue: true,
            ..Stage::default()
        };
        let queues = place.db.backend().pipelines()?;
        queues.note_stages(&[("docs".to_owned(), stage.clone())].into()).await?;
        for id in ["doc-1", "doc-2", "doc-3"] {
            submit(&place, id).await?;
        }
        for drains in [false, true] {
            let stage = Stage { drains, ..stage.clone() };
            let claim = StageClaim { stage, ..StageClaim::new("worker", "docs", 9) };
            assert_eq!(queues.claim_stage(&claim).await?.batches.len(), 1);
        }
        let depth = json(&place.url, &["queue", "depth", "docs"]).await;
        let said = (&depth["batches"], &depth["batched"], &depth["fill"]);
        assert_eq!(said, (&value!(2), &value!(3), &value!(1.5)), "{depth}");
        let table = pgflow(&place.url, &["queue", "depth", "docs"]).await.stdout();
        assert!(table.contains("fill") && table.contains("1.5"), "{table}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn rates_are_listed_and_set() -> Outcome {
    for place in each_with_jobs().await? {
        let url = &*place.url;
        if !has_pipelines(&place, &["queue", "rate"]).await {
            continue;
        }
        let unknown = pgflow(url, &["queue", "rate", "api"]).await;
        assert!(
            unknown.code() == 1 && unknown.stderr().contains("there is no rate api"),
            "{}",
            unknown.text()
        );
        let set = json(url, &["queue", "rate", "api", "600/min", "--burst", "50"]).await;
        assert_eq!(
            set["rates"],
            value!([{ "rate": "api", "amount": 600, "period_seconds": 60.0, "burst": 50, "left": 50, "declared": "600/min, 50 at once" }])
        );
        assert_eq!(place.db.rate("api").get().await?, Some(Rate::per_minute(600).burst(50)));
        let paused = json(url, &["queue", "rate", "api", "0"]).await;
        assert_eq!(
            (&paused["rates"][0]["amount"], &paused["rates"][0]["left"]),
            (&value!(0), &value!(0))
        );
        let text = pgflow(url, &["queue", "rate"]).await.stdout();
        assert!(text.contains("api") && text.contains("0/s"), "{text}");
    }
    Ok(())
}
