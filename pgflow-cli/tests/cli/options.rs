//! Options that every command, or one of them, has: what they do.

use std::io::Write as _;
use std::process::{Command, Stdio};

use pgflow_worker_tests::{Fresh, Outcome};
use serde_json::{Value, json as value};

use crate::jobs::{each_with_jobs, failed, settle, take};
use crate::place::{Scratch, each, json, pgflow, program, sums};
use crate::top::Terminal;
use pgflow_machine::job::JobRetry;

fn script(shell: &str) -> String {
    let ran = Command::new(env!("CARGO_BIN_EXE_pgflow")).args(["completions", shell]).output();
    String::from_utf8(ran.expect("it runs").stdout).expect("text")
}

#[test]
fn every_shell_gets_a_script_with_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = script(shell);
        for command in pgflow_cli::command().get_subcommands() {
            assert!(script.contains(command.get_name()), "{shell}: {}", command.get_name());
            for leaf in command.get_subcommands() {
                assert!(script.contains(leaf.get_name()), "{shell}: {}", leaf.get_name());
            }
        }
        assert!(script.contains("--older-than") || script.contains("older-than"), "{shell}");
    }
    let wrong = Command::new(env!("CARGO_BIN_EXE_pgflow")).args(["completions", "vi"]).output();
    assert_eq!(wrong.expect("it runs").status.code(), Some(2));
}

/// As a shell does it: words are given, and what could stand there comes back.
#[test]
fn bash_completes_commands_and_options() {
    let script = script("bash");
    for (words, expected) in [
        ("pgflow l", "ls"),
        ("pgflow sch", "schedule"),
        ("pgflow schedule ad", "add"),
        ("pgflow ls --wor", "--workers"),
        ("pgflow prune --old", "--older-than"),
    ] {
        let last = words.rsplit(' ').next().unwrap_or_default();
        let ask = format!(
            "set -e\n{script}\nCOMP_WORDS=({words}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))\n\
             _pgflow pgflow {last} x\necho \"${{COMPREPLY[@]}}\""
        );
        let mut bash = Command::new("bash");
        bash.args(["--norc", "-s"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut bash = bash.spawn().expect("bash is there");
        bash.stdin.take().expect("piped").write_all(ask.as_bytes()).expect("it reads");
        let output = bash.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "the script is no bash: {words}");
        assert!(said.split_whitespace().any(|word| word == expected), "{words}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn colours_are_for_terminals_and_for_those_who_want_them() -> Outcome {
    let place = Fresh::sqlite().await?;
    place.db.register(sums::Flow).await?;
    place.db.start(sums::Flow, &vec![1]).await?;
    let ls = format!("{} ls --database '{}'", env!("CARGO_BIN_EXE_pgflow"), place.url);
    for (name, setting, has_colours) in
        [("colours", "", true), ("no-colour", "NO_COLOR=1 ", false), ("empty", "NO_COLOR= ", true)]
    {
        let terminal = Terminal::run(name, &format!("{setting}{ls}"));
        terminal.shows(&["started", "ended with 0"]).await;
        // The status is blue, as the terminal was told.
        assert_eq!(terminal.coloured().contains("\u{1b}[34mstarted"), has_colours, "{name}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_meant_by_the_beginning_of_its_id() -> Outcome {
    for place in each().await? {
        let url = &*place.url;
        let (one, two) = (
            place.db.start(sums::Flow, &vec![1]).await?.id().to_string(),
            place.db.start(sums::Flow, &vec![2]).await?.id().to_string(),
        );
        let same = one.bytes().zip(two.bytes()).take_while(|(a, b)| a == b).count();
        for command in ["show", "why", "graph"] {
            let short = &one[..=same];
            let ran = pgflow(url, &[command, short]).await;
            assert!(ran.code() < 2, "{command} {short}: {}", ran.text());
        }
        assert_eq!(json(url, &["show", &one[..=same]]).await["id"], *one);
        assert_eq!(json(url, &["show", &two[..=same].to_uppercase()]).await["id"], *two);
        for command in ["show", "why", "tail", "retry", "cancel", "graph"] {
            let both = pgflow(url, &[command, &one[..8]]).await;
            assert_eq!(both.code(), 2, "{command}: {}", both.text());
            let text = both.stderr();
            assert!(text.contains(&one) && text.contains(&two), "{command}: {text}");
        }
        let cancelled = json(url, &["cancel", &two[..=same]]).await;
        assert_eq!(cancelled["runs"][0]["run"], *two);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_run_is_given_comes_from_a_file_or_from_a_pipe() -> Outcome {
    let scratch = Scratch::new("input")?;
    let file = scratch.path().join("input.json");
    std::fs::write(&file, " [1, 2]\n")?;
    let at = format!("@{}", file.display());
    for place in each().await? {
        let url = &*place.url;
        let run =
            json(url, &["start", "sums", &at]).await["run"].as_str().ok_or("a run")?.to_owned();
        assert_eq!(json(url, &["show", &run, "--input"]).await["input"], value!([1, 2]));
        let mut start = program(url, &["start", "sums", "-", "--json"]);
        let mut start = start.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        start.stdin.take().ok_or("piped")?.write_all(b"[3]")?;
        let said: Value = serde_json::from_slice(&start.wait_with_output()?.stdout)?;
        let run = said["run"].as_str().ok_or("a run")?;
        assert_eq!(json(url, &["show", run, "--input"]).await["input"], value!([3]));
        let missing = pgflow(url, &["start", "sums", "@no/such/file"]).await;
        assert!(
            missing.code() == 1 && missing.stderr().contains("cannot read no/such/file"),
            "{}",
            missing.text()
        );
        // Nobody serves it.
        let slow = pgflow(url, &["start", "sums", "[1]", "--wait", "--timeout", "1s"]).await;
        assert!(
            slow.code() == 1 && slow.stderr().contains("goes on after that time"),
            "{}",
            slow.text()
        );
        let alone = pgflow(url, &["start", "sums", "[1]", "--timeout", "1s"]).await;
        assert!(alone.code() == 2 && alone.stderr().contains("--wait"), "{}", alone.text());
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn somebody_at_a_terminal_is_asked_and_shown_how_far_it_is() -> Outcome {
    let place = Fresh::sqlite().await?;
    place.db.register(sums::Flow).await?;
    for n in 0..3 {
        place.db.start(sums::Flow, &vec![n]).await?;
    }
    let with = |command: &str| {
        format!("{} {command} --database '{}'", env!("CARGO_BIN_EXE_pgflow"), place.url)
    };
    let terminal = Terminal::run("asked", &with("cancel --flow sums"));
    terminal.shows(&["cancel 3 runs? [y/N]"]).await;
    terminal.press("Enter");
    terminal.shows(&["nothing was changed", "ended with 1"]).await;
    drop(terminal);
    let open = json(&place.url, &["ls", "--status", "started"]).await;
    assert_eq!(open["runs"].as_array().map(Vec::len), Some(3), "no is no");
    let terminal = Terminal::run("asked-again", &with("cancel --flow sums"));
    terminal.shows(&["cancel 3 runs? [y/N]"]).await;
    terminal.press("yes");
    terminal.press("Enter");
    terminal.shows(&["cancelled", "ended with 0"]).await;
    place.db.submit_raw("n", Value::Null).id("one").await?.cancel("not needed").await?;
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    let terminal = Terminal::run("pruned", &with("prune --older-than 1s"));
    let full = "#".repeat(40);
    let (runs, jobs) = (format!("[{full}] 3 of 3 runs"), format!("[{full}] 1 of 1 jobs"));
    terminal.shows(&[&runs, &jobs, "3 runs and 1 jobs deleted", "ended with 0"]).await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_are_kept_and_counted_once() -> Outcome {
    for place in each_with_jobs().await? {
        let url = &*place.url;
        let kept =
            json(url, &["signal", "order-42", "7", "--keep", "1h", "--resume-id", "m1"]).await;
        assert_eq!(kept["outcome"], "buffered", "{kept}");
        let again = pgflow(url, &["signal", "order-42", "7", "--resume-id", "m1"]).await;
        assert!(
            again.code() == 0 && again.stdout().contains("answered with this id before"),
            "{}",
            again.text()
        );
        let wrong = pgflow(url, &["signal", "order-42", "7", "--keep", "soon"]).await;
        assert_eq!(wrong.code(), 2, "{}", wrong.text());
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn redriven_jobs_may_come_one_after_the_other() -> Outcome {
    for place in each_with_jobs().await? {
        let url = &*place.url;
        for id in ["first", "second", "third"] {
            place.db.submit_raw("n", Value::Null).id(id).await?;
            settle(&place, take(&place, "worker", "n").await?, failed(JobRetry::Never)).await?;
        }
        let done = json(url, &["job", "redrive", "--all", "--spacing", "1h", "--yes"]).await;
        assert_eq!(done["jobs"].as_array().map(Vec::len), Some(3), "{done}");
        for (id, status) in
            [("first", "READY"), ("second", "AWAITING_FUTURE"), ("third", "AWAITING_FUTURE")]
        {
            assert_eq!(json(url, &["job", "show", id]).await["status"], status, "{id} on {url}");
        }
        let at = async |id: &str| json(url, &["job", "show", id]).await["wake_at"].to_string();
        assert!(at("second").await < at("third").await, "an hour apart");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn schedules_say_what_becomes_of_moments_that_were_missed() -> Outcome {
    for place in each().await? {
        let url = &*place.url;
        let add = ["schedule", "add", "pulse", "sums", "*/10 * * * * *", "[1]"];
        let more = ["--missed", "all(3)", "--overlap", "queue", "--timezone", "Europe/Berlin"];
        let added = json(url, &[&add[..], &more].concat()).await;
        let (missed, overlap) = (&added["schedule"]["missed"], &added["schedule"]["overlap"]);
        assert_eq!((missed, overlap), (&value!("all(3)"), &value!("queue")), "{added}");
        let other =
            json(url, &[&add[..], &["--missed", "skip", "--overlap", "skip"]].concat()).await;
        assert_eq!(other["outcome"], "replaced", "{other}");
        assert_eq!(other["schedule"]["missed"], "skip");
        for wrong in [["--missed", "some"], ["--missed", "all(0)"], ["--overlap", "never"]] {
            let ran = pgflow(url, &[&add[..], &wrong].concat()).await;
            assert_eq!(ran.code(), 2, "{wrong:?}: {}", ran.text());
        }
    }
    Ok(())
}

/// Reasons have exact times, too.
#[tokio::test(flavor = "multi_thread")]
async fn utc_is_exact_everywhere() -> Outcome {
    for place in each().await? {
        let url = &*place.url;
        let delay = std::time::Duration::from_hours(3);
        let run = place.db.start(sums::Flow, &vec![1]).delay(delay).await?.id().to_string();
        for command in ["why", "show"] {
            let said = pgflow(url, &[command, &run]).await.stdout();
            assert!(said.contains("begins in 2 h"), "{said}");
            let said = pgflow(url, &[command, &run, "--utc"]).await.stdout();
            assert!(said.contains("begins at 20") && !said.contains(" h,"), "{said}");
        }
        let why = json(url, &["why", &run, "--utc"]).await;
        let text = why["reasons"][0]["text"].as_str().expect("a text");
        assert!(text.contains("begins at 20"), "{text}");
        if place.db.has_jobs() {
            place.db.submit_raw("n", Value::Null).id("one-1").await?.cancel("moved").await?;
            for command in ["why", "show"] {
                let said = pgflow(url, &[command, "one-1", "--utc"]).await.stdout();
                assert!(said.contains("cancelled at 20") && !said.contains("ago"), "{said}");
            }
        }
    }
    Ok(())
}
