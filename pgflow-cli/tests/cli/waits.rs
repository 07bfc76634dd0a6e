//! Steps that wait: listed, explained and answered.

use std::time::Duration;

use pgflow::RunStatus;
use pgflow::prelude::*;
use pgflow_worker_tests::{Fresh, Outcome};
use serde_json::json;
use tokio::time::sleep;

use crate::doctor::{codes, quick_codes};
use crate::place::{change, json, pgflow};

#[flow(input = u32)]
pub(crate) mod approval {
    use super::*;

    #[step(wait_timeout = "7d")]
    pub(crate) async fn asked(hook: Hook<u32>) -> Result<Waiting<u32>> {
        Ok(hook.wait())
    }
}

/// The token of the only step that waits, once it does.
pub(crate) async fn token(place: &Fresh) -> Outcome<String> {
    loop {
        let waits = json(&place.url, &["ls", "--hooks"]).await;
        if let Some(token) = waits["waits"][0]["token"].as_str() {
            return Ok(token.to_owned());
        }
        sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_that_waits_is_found_explained_and_answered() -> Outcome {
    for place in [Fresh::sqlite().await?, Fresh::postgres().await?, Fresh::mysql().await?] {
        let worker = place.work(approval::Flow).await?;
        let run = place.db.start(approval::Flow, 7).await?;
        let id = run.id().to_string();
        let token = token(&place).await?;
        let waits = json(&place.url, &["ls", "--hooks", "--limit", "1"]).await;
        let first = &waits["waits"][0];
        assert_eq!((&first["run"], &first["step"]), (&json!(id), &json!("asked")));
        let next = waits["next"].as_str().expect("a full page has a next one");
        let after = json(&place.url, &["ls", "--hooks", "--after", next]).await;
        assert_eq!(after["waits"], json!([]));
        let listed = pgflow(&place.url, &["ls", "--hooks"]).await;
        assert!(listed.stdout().contains(&token), "{}", listed.text());
        let why = json(&place.url, &["why", &id]).await;
        assert_eq!(why["reasons"][0]["code"], "waiting", "{why}");
        let shown = pgflow(&place.url, &["show", &id]).await;
        assert!(shown.stdout().contains("waits for an answer"), "{}", shown.text());
        let signal = async |answer| pgflow(&place.url, &["signal", &token, answer]).await;
        let wrong = signal("\"seven\"").await;
        assert_eq!(wrong.code(), 1, "{}", wrong.text());
        assert!(wrong.stdout().starts_with("not what is waited for: "), "{}", wrong.text());
        let right = signal("7").await;
        assert_eq!(right.code(), 0, "{}", right.text());
        assert!(right.stdout().starts_with("delivered to step `asked`"), "{}", right.text());
        assert_eq!(run.wait().await?, RunStatus::Completed);
        assert_eq!(signal("7").await.stdout(), "nobody waits for it\n");
        worker.stop().await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_names_waits_that_nobody_ends() -> Outcome {
    for place in [Fresh::sqlite().await?, Fresh::postgres().await?, Fresh::mysql().await?] {
        let worker = place.work(approval::Flow).await?;
        place.db.start(approval::Flow, 7).await?;
        token(&place).await?;
        worker.stop().await?;
        assert_eq!(codes(&place.url).await, [""; 0], "it has time: {}", place.url);
        let elsewhere = if place.url.starts_with("mysql:") {
            "update pgflow_waits set until_at = until_at - 691200000000"
        } else {
            "update pgflow_waits set until = until - 691200000000"
        };
        let postgres = "update pgflow.waits set until = until - interval '8 days'";
        change(&place.url, elsewhere, postgres).await?;
        assert_eq!(quick_codes(&place.url).await, ["wait-late"], "{}", place.url);
    }
    Ok(())
}
