//! What `--json` prints is what docs/cli.md says, of every command.

use std::collections::BTreeMap;

use pgflow::RunStatus;
use pgflow::Worker;
use pgflow_build_tests::Scratch as Crate;
use pgflow_machine::job::JobRetry;
use pgflow_worker_tests::{Fresh, Outcome, Working};
use serde_json::Value;

use crate::jobs::{failed as failed_with, settle, take};
use crate::place::{Scratch, change, fields, pgflow, slow, sums};
use crate::waits::{approval, token};

/// Fields of an object by name, with those of its elements if it is a list of objects.
type Shape = BTreeMap<String, Option<Vec<String>>>;

/// The table of docs/cli.md. A word in backticks is a field; what stands in brackets behind one are those of its elements;
/// behind a semicolon is what only some objects have.
fn documented() -> Vec<(String, Shape)> {
    let manual = pgflow_cli::manual();
    let table = manual.split("| command | object |").nth(1).expect("the table");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let row = |line: &str| {
        let (commands, object) = line.trim_matches('|').split_once(" | ").expect("two cells");
        let name = |command: &str| command.trim_matches([' ', '`']).to_owned();
        let shape = shape(object);
        commands.split(',').map(|command| (name(command), shape.clone())).collect::<Vec<_>>()
    };
    rows.flat_map(row).collect()
}

fn shape(text: &str) -> Shape {
    let always = text.split(';').next().unwrap_or_default();
    let (mut shape, mut last, mut nested) = (Shape::new(), String::new(), false);
    for (n, part) in always.split('`').enumerate() {
        if n % 2 == 0 {
            // Between words.
            if part.contains('[') {
                nested = true;
                shape.insert(last.clone(), Some(Vec::new()));
            }
            nested &= !part.contains(']');
        } else if part.chars().all(|c| c.is_ascii_alphabetic() || c == '_') {
            match shape.get_mut(&last) {
                Some(Some(inner)) if nested => inner.push(part.to_owned()),
                _ => {
                    part.clone_into(&mut last);
                    shape.insert(last.clone(), None);
                }
            }
        }
    }
    shape
}

fn assert_is(command: &str, value: &Value, shape: &Shape) {
    let names: Vec<_> = shape.keys().map(String::as_str).collect();
    assert_eq!(fields(value), names, "{command}: {value}");
    for (name, inner) in shape {
        let Some(inner) = inner else { continue };
        let first = &value[name][0];
        let mut inner: Vec<_> = inner.iter().map(String::as_str).collect();
        inner.sort_unstable();
        assert_eq!(fields(first), inner, "{command}: {name} of {value}");
    }
}

/// A flow whose migration is missing.
const FLOW: &str = "#[pgflow::flow(input = u32)]
pub mod billing {
    #[step]
    pub async fn fetch(run: u32) -> pgflow::Result<u32> { Ok(run) }
}
";

/// A flow, a run that failed, one that is completed, one that goes on, jobs, and a worker.
async fn busy(place: &Fresh) -> Outcome<(String, Working)> {
    place.db.register(slow::Flow).await?;
    place.db.register(sums::Flow).await?;
    place.db.register(approval::Flow).await?;
    let worker = Worker::new(&place.db).flow(sums::Flow).flow(approval::Flow);
    let worker = Working::start(worker);
    place.db.start(approval::Flow, 7).await?;
    token(place).await?;
    let failed = place.db.start(sums::Flow, &vec![13]).await?;
    assert_eq!(failed.wait().await?, RunStatus::Failed);
    place.db.start(sums::Flow, &vec![1]).await?.wait().await?;
    place.db.start(slow::Flow, &1).await?;
    // One that has ended, one that is ready, one that waits, and a dead one.
    let job = |id: &str| place.db.submit_raw("n", Value::Null).id(id);
    job("shape-0").await?.cancel("not needed").await?;
    let ready = job("shape-1").await?;
    job("shape-2").after([&ready]).await?;
    place.db.submit_raw("d", Value::Null).id("shape-3").await?;
    settle(place, take(place, "worker", "d").await?, failed_with(JobRetry::Never)).await?;
    Ok((failed.id().to_string(), worker))
}

/// The first line that a command prints.
async fn first(url: &str, command: &str, args: &[&str]) -> Value {
    let ran = pgflow(url, &[args, &["--json"]].concat()).await;
    let line = ran.stdout().lines().next().unwrap_or_default().to_owned();
    serde_json::from_str(&line).unwrap_or_else(|error| panic!("{command}: {error}: {}", ran.text()))
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_are_as_documented() -> Outcome {
    let place = Fresh::sqlite().await?;
    let (failed, worker) = busy(&place).await?;
    let source = Crate::new(&[("src/lib.rs", FLOW)]);
    let dir = source.dir.display().to_string();
    let scratch = Scratch::new("shapes")?;
    let (man, within) = (scratch.path().join("man"), scratch.path().display().to_string());
    let man = man.display().to_string();
    let asked: &[(&str, &[&str])] = &[
        ("ls", &["ls"]),
        ("ls --flows", &["ls", "--flows"]),
        ("ls --queues", &["ls", "--queues"]),
        ("ls --workers", &["ls", "--workers"]),
        ("ls --jobs", &["ls", "--jobs"]),
        ("ls --hooks", &["ls", "--hooks"]),
        ("signal", &["signal", "somebody", "1"]),
        ("schedule add", &["schedule", "add", "nightly", "sums", "0 3 * * *", "[1]"]),
        ("ls --schedules", &["ls", "--schedules"]),
        ("schedule ls", &["schedule", "ls"]),
        ("schedule next", &["schedule", "next", "nightly"]),
        ("schedule fire", &["schedule", "fire", "nightly"]),
        ("schedule pause", &["schedule", "pause", "nightly"]),
        ("schedule resume", &["schedule", "resume", "nightly"]),
        ("schedule rm", &["schedule", "rm", "nightly"]),
        ("job ls", &["job", "ls"]),
        ("show JOB", &["show", "shape-2"]),
        ("job show", &["job", "show", "shape-2"]),
        ("why JOB", &["why", "shape-1"]),
        ("job submit", &["job", "submit", "n"]),
        ("job submit --wait", &["job", "submit", "n", "--id", "shape-0", "--wait"]),
        ("job cancel", &["job", "cancel", "shape-1", "--dry-run"]),
        ("job clear", &["job", "clear", "shape-1", "--dry-run"]),
        ("job redrive", &["job", "redrive", "shape-1", "--dry-run"]),
        ("dead ls", &["dead", "ls"]),
        ("dead redrive", &["dead", "redrive", "shape-3", "--dry-run"]),
        ("dead drop", &["dead", "drop", "shape-3", "--dry-run"]),
        ("queue depth", &["queue", "depth", "n"]),
        ("queue pause", &["queue", "pause", "n"]),
        ("queue resume", &["queue", "resume", "n"]),
        ("queue rate", &["queue", "rate", "api", "5/s"]),
        ("show RUN", &["show", &failed]),
        ("why", &["why", &failed]),
        ("start", &["start", "sums", "[1]"]),
        ("start --wait", &["start", "sums", "[1]", "--wait"]),
        ("tail", &["tail", &failed, "--limit", "1"]),
        ("graph", &["graph", &failed]),
        ("retry", &["retry", &failed, "--dry-run"]),
        ("cancel", &["cancel", "--flow", "slow", "--dry-run"]),
        ("prune", &["prune", "--older-than", "1d", "--dry-run"]),
        ("install", &["install"]),
        ("new", &["new", "shaped", "--within", &within]),
        ("man", &["man", &man]),
        ("check", &["check", "--dir", &dir]),
        ("migrate", &["migrate", "--dir", &dir]),
        ("undo", &["undo", "--dir", &dir]),
        ("keep", &["keep", "--dir", &dir]),
        ("doctor", &["doctor", "--quick"]),
    ];
    let mut documented: BTreeMap<_, _> = documented().into_iter().collect();
    for (command, args) in asked {
        let shape = documented.remove(*command).unwrap_or_else(|| panic!("{command} is missing"));
        if *command == "doctor" {
            let edited = "update pgflow_migrations set checksum = 'x' where name like '0001%'";
            change(&place.url, edited, "").await?;
        }
        let mut value = first(&place.url, command, args).await;
        // The events of the kind that comes first have these besides.
        if *command == "tail" {
            value.as_object_mut().expect("an object").retain(|name, _| shape.contains_key(name));
        }
        assert_is(command, &value, &shape);
    }
    worker.stop().await?;
    // Each has a test of its own: they need a server that goes on, a compiler, or git.
    let elsewhere = ["serve", "dev", "schema", "diff", "show FLOW"];
    assert_eq!(documented.keys().map(String::as_str).collect::<Vec<_>>(), sorted(&elsewhere));
    Ok(())
}

fn sorted<'a>(names: &[&'a str]) -> Vec<&'a str> {
    let mut names = names.to_vec();
    names.sort_unstable();
    names
}

#[test]
fn every_command_is_documented() {
    let documented = documented();
    for command in pgflow_cli::command().get_subcommands() {
        let name = command.get_name();
        let is_there = |name: &str| documented.iter().any(|(row, _)| row.starts_with(name));
        for leaf in command.get_subcommands() {
            let name = format!("{name} {}", leaf.get_name());
            assert!(is_there(&name), "{name}");
        }
        let is_there = documented.iter().any(|(row, _)| row.split(' ').next() == Some(name));
        // One is for people, the other prints a script.
        assert!(is_there != ["top", "completions"].contains(&name), "{name}");
        let leaves: Vec<_> = command.get_subcommands().collect();
        for leaf in if leaves.is_empty() { vec![command] } else { leaves } {
            let has_json = leaf.get_arguments().any(|argument| argument.get_id() == "json");
            assert!(has_json != (name == "completions"), "{} has no --json", leaf.get_name());
        }
    }
}
