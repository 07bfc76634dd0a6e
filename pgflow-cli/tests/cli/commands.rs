//! What commands print and do.

use pgflow::backend::WorkerCard;
use pgflow::{RunId, RunStatus};
use pgflow_machine::WorkerId;
use pgflow_worker_tests::{Fresh, Outcome};
use serde_json::json as value;
use sqlx::{Connection as _, PgConnection};

use crate::place::{change, each, fields, json, pgflow, sums};

/// A run that is completed and one that has failed, and a worker that is still there.
async fn worked(place: &Fresh) -> Outcome<(String, String, pgflow_worker_tests::Working)> {
    let worker = place.work(sums::Flow).await?;
    let good = place.db.start(sums::Flow, &vec![1, 2]).await?;
    let bad = place.db.start(sums::Flow, &vec![13]).await?;
    assert_eq!(good.wait().await?, RunStatus::Completed);
    assert_eq!(bad.wait().await?, RunStatus::Failed);
    Ok((good.id().to_string(), bad.id().to_string(), worker))
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_flows_queues_and_workers_are_listed() -> Outcome {
    for place in each().await? {
        let url = &*place.url;
        let (good, bad, worker) = worked(&place).await?;
        let all = json(url, &["ls"]).await;
        assert_eq!(fields(&all), ["next", "runs"]);
        let run = &all["runs"][0];
        assert_eq!(
            fields(run),
            ["ended_at", "flow", "id", "remaining_steps", "started_at", "status"]
        );
        assert_eq!((run["id"].as_str(), run["flow"].as_str()), (Some(&*bad), Some("sums")));
        let failed =
            json(url, &["ls", "--status", "failed", "--flow", "sums", "--since", "1h"]).await;
        assert_eq!(failed["runs"].as_array().map(Vec::len), Some(1));
        let page = json(url, &["ls", "--limit", "1"]).await;
        let next = page["next"].as_str().expect("there is more").to_owned();
        let rest = json(url, &["ls", "--limit", "1", "--after", &next]).await;
        assert_eq!(rest["runs"][0]["id"].as_str(), Some(&*good));
        let text = pgflow(url, &["ls"]).await;
        assert_eq!(text.code(), 0, "{}", text.text());
        assert!(
            text.stdout().contains(&good) && !text.stdout().contains('\u{1b}'),
            "no colours in a pipe"
        );
        assert!(pgflow(url, &["ls", "--utc"]).await.stdout().contains("Z  "), "exact times");

        let flows = json(url, &["ls", "--flows"]).await;
        assert_eq!(flows["flows"][1]["slug"], "sums");
        assert_eq!(
            fields(&flows["flows"][0]),
            ["created_at", "flow", "is_current", "slug", "steps", "version"]
        );
        let queues = json(url, &["ls", "--queues"]).await;
        assert_eq!(
            fields(&queues["queues"][0]),
            ["delayed", "oldest_ready_seconds", "ready", "running", "slug"]
        );
        let workers = json(url, &["ls", "--workers"]).await;
        let there = &workers["workers"][0];
        assert_eq!(
            (there["is_alive"].as_bool(), &there["queues"]),
            (Some(true), &value!(["sums"]))
        );
        assert_eq!(there["pid"], std::process::id());
        assert_eq!(fields(there).len(), 11);
        worker.stop().await?;
        let none = value!({ "workers": [], "next": null });
        assert_eq!(json(url, &["ls", "--workers"]).await, none);
        for _ in 0..2 {
            let queues = vec!["sums".to_owned()];
            let card = WorkerCard { id: WorkerId::new(), host: None, pid: 1, queues, slots: 1 };
            place.db.backend().sign_on(&card).await?;
        }
        let page = json(url, &["ls", "--workers", "--all", "--limit", "2"]).await;
        let next = page["next"].as_str().expect("there is more");
        let rest = json(url, &["ls", "--workers", "--all", "--after", next]).await;
        let ids = |page: &serde_json::Value| {
            let workers = page["workers"].as_array().expect("workers").iter();
            workers.map(|worker| worker["id"].to_string()).collect::<Vec<_>>()
        };
        assert_eq!((ids(&page).len(), ids(&rest).len()), (2, 1), "{page} {rest}");
        assert!(!ids(&page).contains(&ids(&rest)[0]), "another one: {page} {rest}");
        let gone = json(url, &["ls", "--workers", "--all"]).await;
        let stopped = gone["workers"].as_array().into_iter().flatten();
        assert_eq!(stopped.filter(|it| it["stopped_at"].is_string()).count(), 1, "{gone}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_shown_drawn_retried_and_deleted() -> Outcome {
    for place in each().await? {
        let url = &*place.url;
        let (good, bad, worker) = worked(&place).await?;
        worker.stop().await?;
        let shown = json(url, &["show", &bad, "--input", "--output", "--events"]).await;
        assert_eq!((&shown["status"], &shown["input"]), (&value!("failed"), &value!([13])));
        assert_eq!(shown["steps"][1]["status"], "failed");
        assert_eq!(shown["events"][0]["event"], "run:started");
        assert_eq!(shown["waits_for"][0]["code"], "ended");
        let text = pgflow(url, &["show", &bad, "--events"]).await;
        assert!(
            text.stdout().contains("✖ double  failed  0/1 tasks  1 attempt"),
            "{}",
            text.text()
        );
        assert_eq!(shown["steps"][1]["attempts"], 1, "{shown}");
        assert!(
            text.stdout().contains("thirteen is refused␛[31m"),
            "shown and not obeyed: {}",
            text.text()
        );
        assert!(!text.stdout().contains('\u{1b}'), "{}", text.text());
        let output = json(url, &["show", &good, "--output"]).await;
        assert_eq!(output["output"], value!({ "total": 6 }));

        let why = pgflow(url, &["why", &bad]).await;
        assert_eq!(why.code(), 1, "somebody has to look: {}", why.text());
        assert!(why.stdout().contains("step `double`: thirteen is refused"), "{}", why.text());
        assert_eq!(pgflow(url, &["why", &good]).await.code(), 0);

        for (format, sign) in [
            ("mermaid", "class double failed"),
            ("dot", "\"double\" [style=filled"),
            ("svg", ">failed</text>"),
        ] {
            let drawing = pgflow(url, &["graph", &bad, "--format", format]).await;
            assert!(drawing.stdout().contains(sign), "{}", drawing.text());
            let drawing = pgflow(url, &["graph", "sums", "--format", format]).await;
            assert!(drawing.code() == 0 && !drawing.stdout().contains(sign), "{}", drawing.text());
        }

        let dry = json(url, &["retry", "--flow", "sums", "--where", "thirteen", "--dry-run"]).await;
        assert_eq!(
            dry,
            value!({ "dry_run": true, "runs": [{ "run": bad, "flow": "sums", "outcome": "would_retry", "text": "would retry" }] })
        );
        assert_eq!(
            json(url, &["retry", "--where", "fourteen", "--dry-run"]).await["runs"],
            value!([])
        );
        let retried = pgflow(url, &["retry", &bad]).await;
        assert!(retried.code() == 0 && retried.stdout().contains("goes on"), "{}", retried.text());
        assert_eq!(pgflow(url, &["retry", &good]).await.code(), 1, "it has not failed");
        let cancelled = json(url, &["cancel", &bad, "--reason", "enough"]).await;
        assert_eq!(cancelled["runs"][0]["outcome"], "cancelled");
        assert_eq!(json(url, &["show", &bad]).await["cancel_reason"], "enough");

        assert_eq!(
            json(url, &["prune", "--older-than", "1d", "--dry-run"]).await,
            value!({ "runs": 0, "jobs": 0, "dry_run": true })
        );
        tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
        assert_eq!(json(url, &["prune", "--older-than", "1s", "--dry-run"]).await["runs"], 2);
        assert_eq!(
            json(url, &["prune", "--older-than", "1s"]).await,
            value!({ "runs": 2, "jobs": 0, "dry_run": false })
        );
        assert_eq!(json(url, &["ls"]).await["runs"], value!([]));
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_are_started_with_what_fits_and_followed() -> Outcome {
    for place in each().await? {
        let url = &*place.url;
        let worker = place.work(sums::Flow).await?;
        let done = json(url, &["start", "sums", "[1, 2, 3]", "--wait", "--key", "no. 7"]).await;
        assert_eq!(
            (&done["status"], &done["output"]),
            (&value!("completed"), &value!({ "total": 12 }))
        );
        let again = json(url, &["start", "sums", "[9]", "--key", "no. 7"]).await;
        assert_eq!((&again["run"], &again["is_new"]), (&done["run"], &value!(false)));
        for (input, sign) in
            [("{\"a\": 1}", "does not fit the flow"), ("[1, \"two\"]", "/1: "), ("[1", "not JSON")]
        {
            let refused = pgflow(url, &["start", "sums", input]).await;
            assert!(refused.stderr().contains(sign) && refused.code() > 0, "{}", refused.text());
        }
        let failed = pgflow(url, &["start", "sums", "[13]", "--wait"]).await;
        assert!(failed.code() == 1 && failed.stdout().contains("thirteen"), "{}", failed.text());
        let unknown = pgflow(url, &["start", "nothing", "1"]).await;
        assert!(
            unknown.code() == 1 && unknown.stderr().contains("no flow `nothing`"),
            "{}",
            unknown.text()
        );

        let run = done["run"].as_str().expect("an id");
        let all_of_them = pgflow(url, &["tail", "--after", "1"]).await;
        assert_eq!(all_of_them.code(), 2, "all runs have no numbers: {}", all_of_them.text());
        let tailed = pgflow(url, &["tail", run, "--after", "1", "--json"]).await;
        assert!(
            tailed.stdout().lines().all(|line| line.contains(r#""flow":"sums""#)),
            "{}",
            tailed.text()
        );
        let lines: Vec<serde_json::Value> =
            tailed.stdout().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!((&lines[0]["seq"], &lines[0]["event"]), (&value!(2), &value!("step:started")));
        assert_eq!(lines.last().expect("it ended")["event"], "run:completed");
        let all = tokio::spawn({
            let url = place.url.clone();
            async move { pgflow(&url, &["tail", "--flow", "sums", "--limit", "9"]).await }
        });
        // Whatever it takes the program to begin: runs go on until it has seen enough.
        while !all.is_finished() {
            place.db.start(sums::Flow, &vec![5]).await?.wait().await?;
            tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        }
        let all = all.await?;
        assert!(
            // One run has fewer events, so another began.
            all.stdout().contains("run:started") && all.stdout().lines().count() == 9,
            "{}",
            all.text()
        );
        worker.stop().await?;
    }
    Ok(())
}

/// Ids of runs with a key begin with any digit.
#[tokio::test(flavor = "multi_thread")]
async fn the_beginning_of_an_id_may_have_letters_only() -> Outcome {
    for place in each().await? {
        let url = &*place.url;
        let id: RunId = "facade01-0000-5000-8000-000000000001".parse()?;
        place.db.start_by_name("sums", value!([1]), Some(id)).await?;
        assert_eq!(json(url, &["show", "faca"]).await["id"], id.to_string());
        let drawing = pgflow(url, &["graph", "facade"]).await;
        assert!(drawing.stdout().contains("class first started"), "{}", drawing.text());
        for command in ["graph", "show"] {
            let none = pgflow(url, &[command, "beef"]).await;
            let said = none.stderr();
            assert!(none.code() == 1 && said.contains("no flow `beef`"), "{}", none.text());
        }
    }
    Ok(())
}

/// A database that fails in the middle keeps nobody from knowing what was done before.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_done_before_something_went_wrong_is_said() -> Outcome {
    let place = Fresh::sqlite().await?;
    let url = &*place.url;
    place.db.register(sums::Flow).await?;
    for n in 0..3 {
        place.db.start(sums::Flow, &vec![n]).await?;
    }
    let second = "create trigger no_room before update on pgflow_runs
        when new.status = 'cancelled' and exists (select 1 from pgflow_runs where status = 'cancelled')
        begin select raise(abort, 'there is no room'); end";
    change(url, second, "").await?;
    let ended = pgflow(url, &["cancel", "--flow", "sums", "--yes", "--json"]).await;
    assert!(ended.code() != 0 && ended.stderr().contains("there is no room"), "{}", ended.text());
    let done = ended.json();
    assert_eq!(done["runs"].as_array().map(Vec::len), Some(1), "{done}");
    assert_eq!(done["runs"][0]["outcome"], "cancelled");
    Ok(())
}

/// What somebody holds stays, and keeps nothing else there.
#[tokio::test(flavor = "multi_thread")]
async fn runs_that_somebody_holds_keep_no_others_from_being_deleted() -> Outcome {
    let place = Fresh::postgres().await?;
    let url = &*place.url;
    place.db.register(sums::Flow).await?;
    for n in 0..230 {
        place.db.start(sums::Flow, &vec![n]).await?.cancel(None).await?;
    }
    // A whole batch, one task of the next, and one more.
    let mut connection = PgConnection::connect(url).await?;
    for held in [
        "begin",
        "select from pgflow.runs order by started_at limit 101 for update",
        "select from pgflow.step_states where run_id = (select run_id from pgflow.runs order by started_at offset 101 limit 1) for update",
    ] {
        sqlx::raw_sql(held).execute(&mut connection).await?;
    }
    assert_eq!(json(url, &["prune", "--older-than", "0s", "--yes"]).await["runs"], 128);
    drop(connection);
    while json(url, &["ls"]).await["runs"] != value!([]) {
        json(url, &["prune", "--older-than", "0s", "--yes"]).await;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn many_runs_are_changed_only_with_a_yes() -> Outcome {
    for place in each().await? {
        let url = &*place.url;
        for n in 0..3 {
            place.db.start(sums::Flow, &vec![n]).await?;
        }
        let asked = pgflow(url, &["cancel", "--flow", "sums"]).await;
        assert!(asked.code() == 2 && asked.stderr().contains("--yes"), "{}", asked.text());
        assert_eq!(
            json(url, &["ls", "--status", "started"]).await["runs"].as_array().map(Vec::len),
            Some(3)
        );
        let nothing = pgflow(url, &["cancel"]).await;
        assert!(
            nothing.code() == 2 && nothing.stderr().contains("which runs?"),
            "{}",
            nothing.text()
        );
        let done = json(url, &["cancel", "--flow", "sums", "--yes"]).await;
        assert_eq!(done["runs"].as_array().map(Vec::len), Some(3));
        assert_eq!(json(url, &["ls", "--status", "started"]).await["runs"], value!([]));
    }
    Ok(())
}

/// What is tried says what would come of it, and what is named twice is meant once.
#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_of_named_runs_says_what_would_come_of_it() -> Outcome {
    for place in each().await? {
        let url = &*place.url;
        let open = place.db.start(sums::Flow, &vec![1]).await?.id().to_string();
        let ended = place.db.start(sums::Flow, &vec![2]).await?;
        ended.cancel(None).await?;
        let ended = ended.id().to_string();
        for (verb, run, said) in [
            ("retry", &open, "has not failed: it is started"),
            ("retry", &ended, "has not failed: it is cancelled"),
            ("cancel", &ended, "had ended before: it is cancelled"),
        ] {
            let dry = pgflow(url, &[verb, run, "--dry-run"]).await;
            let real = pgflow(url, &[verb, run]).await;
            assert_eq!((dry.code(), dry.stdout()), (1, real.stdout()), "{verb} {}", dry.text());
            assert!(dry.stdout().contains(said), "{}", dry.text());
        }
        let twice = ["cancel", &*open, &*open];
        let dry = json(url, &[&twice[..], &["--dry-run"]].concat()).await;
        assert_eq!(
            dry["runs"],
            value!([{ "run": open, "flow": "sums", "outcome": "would_cancel", "text": "would cancel" }])
        );
        let done = pgflow(url, &twice).await;
        assert_eq!(done.code(), 0, "one run needs no yes: {}", done.text());
        assert_eq!(done.stdout().lines().count(), 1, "{}", done.text());
    }
    Ok(())
}

/// What was deleted before something went wrong is said.
#[tokio::test(flavor = "multi_thread")]
async fn a_prune_that_fails_says_what_it_deleted() -> Outcome {
    for option in ["--json", "--utc"] {
        let place = Fresh::sqlite().await?;
        let url = &*place.url;
        place.db.register(sums::Flow).await?;
        for n in 0..101 {
            place.db.start(sums::Flow, &vec![n]).await?.cancel(None).await?;
        }
        place.db.submit_raw("n", value!(null)).id("one").await?.cancel("not needed").await?;
        let last = "create trigger no_room before delete on pgflow_runs
            when (select count(*) from pgflow_runs) <= 1
            begin select raise(abort, 'there is no room'); end";
        change(url, last, "").await?;
        let pruned = pgflow(url, &["prune", "--older-than", "0s", "--yes", option]).await;
        let text = pruned.text();
        assert!(pruned.code() != 0 && pruned.stderr().contains("there is no room"), "{text}");
        if option == "--json" {
            assert_eq!(pruned.json(), value!({ "runs": 100, "jobs": 0, "dry_run": false }));
        } else {
            assert_eq!(pruned.stdout(), "100 runs and 0 jobs deleted\n", "{text}");
        }
    }
    Ok(())
}
