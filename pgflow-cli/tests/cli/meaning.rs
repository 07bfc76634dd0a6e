//! What is named is meant, and nothing else.

use pgflow_build_tests::Scratch as Crate;
use pgflow_machine::job::JobRetry;
use pgflow_worker_tests::{Fresh, Outcome};
use serde_json::{Value, json as value};

use crate::jobs::{each_with_jobs, failed, settle, take};
use crate::place::{each, json, pgflow, sums};

/// Dead jobs of these names.
async fn dead(place: &Fresh, names: &[&str]) -> Outcome {
    for name in names {
        place.db.submit_raw("docs", Value::Null).id(*name).await?;
        settle(place, take(place, "worker", "docs").await?, failed(JobRetry::Never)).await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_is_gone_means_no_other() -> Outcome {
    for place in each_with_jobs().await? {
        let url = &*place.url;
        dead(&place, &["doc-1", "doc-10"]).await?;
        let dropped = pgflow(url, &["dead", "drop", "doc-1"]).await;
        assert_eq!(dropped.code(), 0, "{}", dropped.text());
        for command in [
            &["dead", "drop", "doc-1"][..],
            &["dead", "redrive", "doc-1"],
            &["job", "redrive", "doc-1"],
            &["job", "cancel", "doc-1"],
            &["job", "clear", "doc-1"],
            &["job", "cancel", "doc-1", "--dry-run"],
            &["job", "submit", "n", "--after", "doc-1"],
        ] {
            let gone = pgflow(url, command).await;
            assert_eq!(gone.code(), 1, "{command:?}: {}", gone.text());
            let said =
                "there is no job doc-1\nhelp: this takes whole names; some begin like that: doc-10";
            assert!(gone.stderr().contains(said), "{command:?}: {}", gone.text());
        }
        let left = json(url, &["dead", "ls"]).await;
        assert_eq!(left["jobs"][0]["id"], "doc-10", "{left}");
        // Whoever only looks is told which one it is.
        for command in [&["show", "doc-1"][..], &["job", "show", "doc-1"], &["why", "doc-1"]] {
            let shown = pgflow(url, command).await;
            let note = "note: no job is called doc-1; this is doc-10";
            assert!(shown.stderr().contains(note), "{command:?}: {}", shown.text());
        }
        let whole = pgflow(url, &["job", "show", "doc-10"]).await;
        assert_eq!(whole.stderr(), "", "{}", whole.text());
    }
    Ok(())
}

/// Before any database is asked.
#[tokio::test(flavor = "multi_thread")]
async fn what_can_be_done_to_none_is_refused() {
    for (command, said) in [
        (
            &["retry", "--status", "completed", "--yes"][..],
            "runs that are failed, and to none that are completed",
        ),
        (&["retry", "--status", "failed", "--status", "started"], "to none that are started"),
        (&["cancel", "--status", "failed"], "runs that are started, and to none that are failed"),
        (&["job", "cancel", "--status", "done"], "never done to jobs of that status"),
        (&["job", "cancel", "--status", "ended"], "never done to jobs of that status"),
        (&["job", "clear", "--status", "ready"], "never done to jobs of that status"),
        (&["job", "redrive", "--status", "live"], "never done to jobs of that status"),
        (&["dead", "drop", "--status", "cancelled"], "never done to jobs of that status"),
    ] {
        let refused = pgflow("sqlite:/nowhere/none.db", command).await;
        assert!(refused.code() == 2 && refused.stderr().contains(said), "{}", refused.text());
    }
    for command in [
        &["retry", "--status", "failed"][..],
        &["cancel", "--status", "started"],
        &["job", "cancel", "--status", "leased"],
        &["job", "clear", "--status", "concern"],
        &["dead", "redrive", "--status", "crashed"],
    ] {
        assert_eq!(pgflow("sqlite:/nowhere/none.db", command).await.code(), 3, "{command:?}");
    }
}

/// An id that begins with letters is looked for in the database, also where the source cannot be read.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_shown_beside_a_source_that_is_broken() -> Outcome {
    let broken = Crate::new(&[("src/lib.rs", ""), ("pgflow.lock", "<<<<<<< ours")]);
    let dir = broken.dir.display().to_string();
    for place in each().await? {
        let url = &*place.url;
        let id: pgflow::RunId = "face0100-0000-5000-8000-000000000001".parse()?;
        place.db.start_by_name("sums", value!([1]), Some(id)).await?;
        for command in ["show", "graph", "why"] {
            let shown = pgflow(url, &[command, "face01", "--json", "--dir", &dir]).await;
            assert!(shown.code() < 2 && shown.stdout().contains("sums"), "{}", shown.text());
        }
        // What nobody has is what the source says of it.
        let none = pgflow(url, &["show", "beef", "--dir", &dir]).await;
        assert!(none.code() == 1 && none.stderr().contains("merge conflict"), "{}", none.text());
    }
    let nowhere = pgflow("sqlite:/nowhere/none.db", &["show", "face01", "--dir", &dir]).await;
    assert!(nowhere.code() == 1 && !nowhere.stderr().contains("/nowhere"), "{}", nowhere.text());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flow_of_the_database_is_hinted_at() {
    let none = pgflow("memory:", &["show", "sums", "--dir", "/"]).await;
    let said = "`pgflow graph sums` a flow of the database";
    assert!(none.code() == 1 && none.stderr().contains(said), "{}", none.text());
}

/// What a terminal would obey is written by its number, and means the same.
#[tokio::test(flavor = "multi_thread")]
async fn json_hides_nothing_from_who_reads_it() -> Outcome {
    let name = "doc\u{9b}31m\u{202e}\u{200b}x";
    for place in each_with_jobs().await? {
        place.db.register(sums::Flow).await?;
        place.db.submit_raw("n", value!(name)).id(name).await?;
        for command in [
            &["job", "ls"][..],
            &["job", "show", name, "--input"],
            &["why", name],
            &["job", "cancel", name, "--reason", name],
            &["job", "show", name, "--events"],
            &["queue", "pause", name],
        ] {
            let printed = pgflow(&place.url, &[command, &["--json"]].concat()).await;
            let line = printed.stdout();
            assert!(!line.contains(['\u{9b}', '\u{202e}', '\u{200b}']), "{command:?}: {line}");
            assert!(line.contains("doc\\u009b31m\\u202e\\u200bx"), "{command:?}: {line}");
            let read: Value = serde_json::from_str(&line)?;
            assert!(read.to_string().contains(name), "{command:?}: {line}");
        }
    }
    Ok(())
}

/// Everything that has ended at once is more than what is asked for every day.
#[tokio::test(flavor = "multi_thread")]
async fn everything_is_deleted_only_with_a_yes() -> Outcome {
    let place = Fresh::sqlite().await?;
    let url = &*place.url;
    place.db.register(sums::Flow).await?;
    place.db.start(sums::Flow, &vec![1]).await?.cancel(None).await?;
    let asked = pgflow(url, &["prune", "--older-than", "0s"]).await;
    assert!(asked.code() == 2 && asked.stderr().contains("say so with --yes"), "{}", asked.text());
    assert_eq!(json(url, &["prune", "--older-than", "0s", "--dry-run"]).await["runs"], 1);
    assert_eq!(json(url, &["prune", "--older-than", "0s", "--yes"]).await["runs"], 1);
    Ok(())
}

/// Why a step failed, and why a run was cancelled, on the line of the event.
#[tokio::test(flavor = "multi_thread")]
async fn events_say_why() -> Outcome {
    for place in each().await? {
        let url = &*place.url;
        let worker = place.work(sums::Flow).await?;
        let failed = place.db.start(sums::Flow, &vec![13]).await?;
        failed.wait().await?;
        worker.stop().await?;
        let cancelled = place.db.start(sums::Flow, &vec![1]).await?;
        cancelled.cancel("not\nneeded").await?;
        for (run, said) in [
            (&failed, "step:failed double  thirteen is refused␛[31m"),
            (&failed, "run:failed  "),
            (&cancelled, "run:cancelled  not␊needed"),
        ] {
            let id = run.id().to_string();
            for command in [&["show", &id, "--events"][..], &["tail", &id]] {
                let printed = pgflow(url, command).await;
                assert!(printed.stdout().contains(said), "{said}: {}", printed.text());
            }
        }
    }
    Ok(())
}
