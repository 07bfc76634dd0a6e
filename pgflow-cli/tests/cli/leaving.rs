//! Who reads what a command prints may leave: what was to be done is done all the same.

use std::process::Stdio;

use pgflow::RunStatus;
use pgflow::backend::JobStanding;
use pgflow_build_tests::Scratch as Crate;
use pgflow_worker_tests::{Fresh, Outcome};
use serde_json::Value;

use crate::place::{Ran, ended, pgflow, program, sums};

/// What a command ends with whose output nobody reads, not from the first line on.
fn unread(url: &str, args: &[&str]) -> Outcome<i32> {
    let mut child = program(url, args).stdout(Stdio::piped()).spawn()?;
    drop(child.stdout.take());
    Ok(child.wait()?.code().ok_or("it was killed")?)
}

/// The same of what it says beside that.
fn unheard(url: &str, args: &[&str]) -> Outcome<i32> {
    let mut child = program(url, args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    drop(child.stderr.take());
    Ok(child.wait()?.code().ok_or("it was killed")?)
}

#[tokio::test(flavor = "multi_thread")]
async fn all_runs_are_changed_although_nobody_reads_it() -> Outcome {
    let place = Fresh::sqlite().await?;
    place.db.register(sums::Flow).await?;
    for format in [&[][..], &["--json"]] {
        let mut runs = Vec::new();
        for n in 0..5 {
            runs.push(place.db.start(sums::Flow, &vec![n]).await?);
        }
        let cancel = ["cancel", "--flow", "sums", "--yes"];
        assert_eq!(unread(&place.url, &[&cancel, format].concat())?, 0);
        for run in &runs {
            assert_eq!(run.status().await?, RunStatus::Cancelled, "{format:?}");
        }
        // What is wrong with the work counts, also if nobody reads it.
        let id = runs[0].id().to_string();
        assert_eq!(unread(&place.url, &[&["retry", &id][..], format].concat())?, 1);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn all_jobs_are_changed_although_nobody_reads_it() -> Outcome {
    let place = Fresh::sqlite().await?;
    for format in [&[][..], &["--json"]] {
        let mut jobs = Vec::new();
        for _ in 0..5 {
            jobs.push(place.db.submit_raw("n", Value::Null).await?);
        }
        let cancel = ["job", "cancel", "--need", "n", "--yes"];
        assert_eq!(unread(&place.url, &[&cancel, format].concat())?, 0);
        for job in &jobs {
            let status = job.status().await?;
            assert!(matches!(status, JobStanding::Ended(_)), "{format:?}: {status}");
        }
    }
    Ok(())
}

/// Of each crate of a workspace, although nobody reads what was written for the first.
#[test]
fn all_migrations_are_written_although_nobody_reads_it() -> Outcome {
    let workspace = Crate::new(&[]);
    for name in ["first", "second"] {
        let manifest =
            format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
        let flow = format!(
            "#[pgflow::flow(input = u32)]\npub mod {name} {{\n    #[step]\n    \
             pub async fn fetch(run: u32) -> pgflow::Result<u32> {{ Ok(run) }}\n}}\n"
        );
        workspace.write(&format!("{name}/Cargo.toml"), &manifest);
        workspace.write(&format!("{name}/src/lib.rs"), &flow);
        workspace.write(&format!("{name}/pgflow.lock"), "");
    }
    let manifest = "[workspace]\nmembers = [\"first\", \"second\"]\nresolver = \"3\"\n";
    workspace.write("Cargo.toml", manifest);
    let dir = workspace.dir.display().to_string();
    assert_eq!(unread("sqlite:none.db", &["migrate", "--dir", &dir])?, 0);
    for name in ["first", "second"] {
        let file = format!("{name}/migrations/0001_create_{name}.sql");
        assert!(workspace.dir.join(&file).exists(), "{file}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_has_to_listen_to_errors_and_warnings() -> Outcome {
    let place = Fresh::sqlite().await?;
    let url = &*place.url;
    for (args, code) in [
        (&["ls", "--flow", "nothere"][..], 0),
        (&["why", "0123"], 1),
        (&["ls", "--after", "x"], 2),
        (&["ls", "--database", "sqlite:/nowhere/app.db"], 3),
        (&["queue", "pause", "never-seen"], 0),
        (&["cancel", "--flow", "nothere", "--yes"], 0),
    ] {
        assert_eq!(unheard(url, args)?, code, "{args:?}");
    }
    Ok(())
}

/// What a command of a shell prints, and ends with.
async fn shell(url: &str, script: &str) -> Ran {
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", script, env!("CARGO_BIN_EXE_pgflow")]).env("WORKFLOW_DATABASE_URL", url);
    shell.env_remove("DATABASE_URL").env_remove("PGFLOW_DATABASE_URL");
    ended(shell).await
}

/// As somebody types it.
#[tokio::test(flavor = "multi_thread")]
async fn the_head_of_it_is_enough() -> Outcome {
    let place = Fresh::sqlite().await?;
    place.db.register(sums::Flow).await?;
    for n in 0..50 {
        place.db.start(sums::Flow, &vec![n]).await?;
    }
    let seen = shell(&place.url, "\"$0\" cancel --flow sums --yes | head -1").await;
    assert_eq!((seen.code(), seen.stdout().lines().count()), (0, 1), "{}", seen.text());
    let left = pgflow(&place.url, &["ls", "--status", "started", "--json"]).await.json();
    assert_eq!(left["runs"], serde_json::json!([]), "none was left out");
    Ok(())
}
