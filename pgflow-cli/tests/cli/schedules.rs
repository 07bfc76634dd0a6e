//! Schedules, as an operator meets them.

use std::time::{Duration, Instant};

use pgflow_worker_tests::Outcome;
use serde_json::json as value;

use crate::doctor::{codes, quick_codes};
use crate::place::{change, each, json, pgflow};

#[tokio::test(flavor = "multi_thread")]
async fn schedules_are_made_looked_at_paused_and_removed() -> Outcome {
    for place in each().await? {
        let url = &place.url;
        let add = ["schedule", "add", "nightly", "slow", "0 3 * * MON-FRI", "7"];
        let made = json(url, &[&add[..], &["--timezone", "Europe/Berlin"]].concat()).await;
        assert_eq!(made["outcome"], "created");
        assert_eq!(made["schedule"]["status"], "active", "it is known when it is due: {made}");
        assert_eq!(made["schedule"]["input"], 7);
        let again = json(url, &[&add[..], &["--timezone", "Europe/Berlin"]].concat()).await;
        assert_eq!(again["outcome"], "unchanged");
        for list in [&["schedule", "ls"][..], &["ls", "--schedules"]] {
            let listed = json(url, list).await;
            assert_eq!(listed["schedules"].as_array().map(Vec::len), Some(1));
            assert_eq!(listed["schedules"][0]["cron"], "0 3 * * MON-FRI");
            let text = pgflow(url, list).await;
            assert!(text.stdout().contains("nightly"), "{}", text.text());
        }
        let next = json(url, &["schedule", "next", "nightly", "--limit", "3"]).await;
        assert_eq!(next["next"].as_array().map(Vec::len), Some(3));
        assert_eq!(json(url, &["schedule", "pause", "nightly"]).await["outcome"], "paused");
        let listed = json(url, &["schedule", "ls", "--flow", "slow"]).await;
        assert_eq!(listed["schedules"][0]["status"], "paused");
        assert_eq!(json(url, &["schedule", "resume", "nightly"]).await["outcome"], "resumed");
        let run = json(url, &["schedule", "fire", "nightly"]).await;
        let run = run["run"].as_str().ok_or("a run")?.to_owned();
        assert_eq!(json(url, &["show", &run, "--input"]).await["input"], value!(7));
        assert_eq!(json(url, &["schedule", "rm", "nightly"]).await["outcome"], "removed");
        assert_eq!(pgflow(url, &["schedule", "rm", "nightly"]).await.code(), 1);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_schedule_is_said() -> Outcome {
    let place = pgflow_worker_tests::Fresh::sqlite().await?;
    place.db.register(crate::place::slow::Flow).await?;
    for (arguments, said) in [
        (&["add", "n", "slow", "0 25 * * *", "7"][..], "is not a cron expression"),
        (&["add", "n", "slow", "@daily", "7", "--timezone", "Berlin"], "Europe/Berlin"),
        (&["add", "n", "slow", "@daily", "\"no number\""], "does not fit"),
        (&["add", "n", "nothing", "@daily"], "there is no flow `nothing`"),
        (&["add", "n", "slow", "@daily", "7", "--missed", "some"], "is not one of"),
        (&["pause", "n"], "there is no schedule `n`"),
        (&["next", "n"], "there is no schedule `n`"),
    ] {
        let ran = pgflow(&place.url, &[&["schedule"], arguments].concat()).await;
        assert!(ran.code() != 0 && ran.stderr().contains(said), "{arguments:?}: {}", ran.text());
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_names_schedules_that_are_broken_or_late() -> Outcome {
    for place in each().await? {
        let url = &place.url;
        for name in ["late", "broken", "paused"] {
            pgflow(url, &["schedule", "add", name, "slow", "@daily", "7"]).await;
        }
        assert_eq!(codes(url).await, [""; 0], "all is well: {url}");
        change(
            url,
            "update pgflow_schedules set next_at = next_at - 172800000000 where name <> 'broken'",
            "update pgflow.schedules set next_at = next_at - interval '2 days' where name <> 'broken'",
        )
        .await?;
        assert_eq!(pgflow(url, &["schedule", "pause", "paused"]).await.code(), 0);
        assert_eq!(quick_codes(url).await, ["schedule-late"], "{url}");
        change(
            url,
            "update pgflow_schedules set status = 'broken', next_at = null, error = 'no such zone' where name = 'broken'",
            "update pgflow.schedules set status = 'broken', next_at = null, error = 'no such zone' where name = 'broken'",
        )
        .await?;
        let mut found = quick_codes(url).await;
        found.sort_unstable();
        assert_eq!(found, ["schedule-broken", "schedule-late"], "{url}");
        let text = pgflow(url, &["doctor", "--quick"]).await.stdout();
        assert!(text.contains("schedule `broken` of flow `slow`: no such zone"), "{text}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_nobody_can_read_hides_no_others() -> Outcome {
    for place in each().await? {
        let url = &place.url;
        for name in ["edited", "good"] {
            pgflow(url, &["schedule", "add", name, "slow", "* * * * * *", "7"]).await;
        }
        change(
            url,
            "update pgflow_schedules set missed = 'all(0)', status = 'pending', next_at = null where name = 'edited'",
            "alter table pgflow.schedules drop constraint schedules_missed_is_valid;
             update pgflow.schedules set missed = 'all(0)', status = 'pending', next_at = null, after_at = '-infinity'
              where name = 'edited'",
        )
        .await?;
        let listed = json(url, &["schedule", "ls"]).await;
        assert_eq!(listed["schedules"][0]["status"], "broken", "{listed}");
        let why = listed["schedules"][0]["error"].as_str().ok_or("a problem")?;
        assert!(why.starts_with("there is no policy `all(0)`"), "{why}");
        assert_eq!(listed["schedules"][1]["status"], "active", "{listed}");
        assert!(quick_codes(url).await.contains(&"schedule-broken".to_owned()), "{url}");
        let worker = place.work(crate::place::slow::Flow).await?;
        until_it_has_started(url, "good").await?;
        worker.stop().await?;
        assert_eq!(json(url, &["schedule", "rm", "good"]).await["outcome"], "removed");
        let again = ["schedule", "add", "edited", "slow", "@daily", "7"];
        assert_eq!(json(url, &again).await["outcome"], "replaced");
        let listed = json(url, &["schedule", "ls"]).await;
        assert_eq!(listed["schedules"][0]["status"], "active", "{listed}");
        change(
            url,
            "update pgflow_schedules set missed = 'some'",
            "update pgflow.schedules set missed = 'some'",
        )
        .await?;
        // Nothing of what is stored is overwritten by what could be read of it.
        let paused = pgflow(url, &["schedule", "pause", "edited"]).await;
        assert_eq!(paused.code() == 0, url.starts_with("postgres"), "{}", paused.text());
        assert_eq!(json(url, &["schedule", "rm", "edited"]).await["outcome"], "removed");
    }
    Ok(())
}

/// Ends when a schedule has started a run.
async fn until_it_has_started(url: &str, name: &str) -> Outcome {
    let deadline = Instant::now() + Duration::from_mins(1);
    while Instant::now() < deadline {
        let listed = json(url, &["schedule", "ls"]).await;
        let all = listed["schedules"].as_array().ok_or("a list")?;
        if all.iter().any(|it| it["name"] == name && !it["last_run"].is_null()) {
            return Ok(());
        }
    }
    Err("it has started nothing after all that time".into())
}
