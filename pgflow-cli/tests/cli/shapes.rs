//! What `--json` prints is what docs/cli.md says, of every command.

use std::collections::{BTreeMap, BTreeSet};

use pgflow::RunStatus;
use pgflow::Worker;
use pgflow_build_tests::Scratch as Crate;
use pgflow_machine::job::{JobOutcome, JobRetry, JobState, JobStatus, Policy, TraceKind};
use pgflow_machine::wait::WaitKind;
use pgflow_machine::{SkipReason, StepStatus};
use pgflow_worker_tests::{Fresh, Outcome, Working};
use serde_json::Value;

use crate::jobs::{failed as failed_with, settle, take};
use crate::place::{Scratch, change, fields, json, pgflow, slow, sums};
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

/// The words in the second cell of a row, by the first, of the table that begins like this.
fn words_of(title: &str) -> BTreeMap<String, Vec<String>> {
    let manual = pgflow_cli::manual();
    let table = manual.split(title).nth(1).expect("the table");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let row = |line: &str| {
        let (what, words) = line.trim_matches('|').split_once(" | ").expect("two cells");
        let words = words.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        (what.trim().to_owned(), words)
    };
    rows.map(row).collect()
}

/// An outcome is one of the words that the manual has for the command.
fn assert_outcome(command: &str, value: &Value) {
    let first = ["runs", "jobs"].iter().find_map(|list| value[*list].get(0)).unwrap_or(value);
    let Some(outcome) = first.get("outcome") else { return };
    let documented = words_of("| outcomes of | words |");
    let is_it = |commands: &str| commands.split(", ").any(|it| it.trim_matches('`') == command);
    let (_, words) = documented.iter().find(|(commands, _)| is_it(commands)).expect("outcomes");
    let outcome = outcome.as_str().expect("a word");
    assert!(words.iter().any(|word| word == outcome), "{command}: {outcome} of {words:?}");
}

/// Every word that there is, and no other.
#[test]
fn words_are_documented() {
    fn words<T: std::fmt::Display>(all: &[T]) -> Vec<String> {
        all.iter().map(ToString::to_string).collect()
    }
    let documented = words_of("| what | words |");
    let of_jobs = [words(JobStatus::ALL), words(JobOutcome::ALL)].concat();
    for (what, expected) in [
        ("`status` of a run", words(RunStatus::ALL)),
        ("`status` of a step, and `states` of `graph`", words(StepStatus::ALL)),
        ("`skip_reason`", words(SkipReason::ALL)),
        ("`status` of a job", of_jobs),
        ("`state` of a job; null once it has ended", words(JobState::ALL)),
        ("`policy` of what a job waits for", words(Policy::ALL)),
        ("`kind` of what a job waits for", words(&["job", "run"])),
        ("`kind` of a wait (`ls --hooks`), `on` of an event", words(WaitKind::ALL)),
        ("`kind` of an event of a job", words(TraceKind::ALL)),
        ("`severity` of a finding", words(&["warning", "error"])),
    ] {
        assert_eq!(documented.get(what), Some(&expected), "{what}");
    }
}

/// What options add, and what is inside of what is inside.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_added_and_nested_is_as_documented() -> Outcome {
    let documented: BTreeMap<_, _> = documented().into_iter().collect();
    let manual = pgflow_cli::manual();
    let spelled = |before: &str| -> Vec<String> {
        let text = manual.split(before).nth(1).expect(before);
        let text = text.split('.').next().unwrap_or_default();
        let mut names: Vec<_> = text.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        names.sort_unstable();
        names
    };
    for place in [Fresh::sqlite().await?, Fresh::postgres().await?, Fresh::mysql().await?] {
        let (failed, worker) = busy(&place).await?;
        worker.stop().await?;
        let url = &*place.url;
        for (command, what) in [("show RUN", &*failed), ("show JOB", "shape-0")] {
            let shown = json(url, &["show", what, "--input", "--output", "--events"]).await;
            let mut names: Vec<_> = documented[command].keys().map(String::as_str).collect();
            names.extend(["input", "output", "events"]);
            names.sort_unstable();
            assert_eq!(fields(&shown), names, "{command}: {shown}");
        }
        let job = json(url, &["job", "show", "shape-0", "--events"]).await;
        for event in job["events"].as_array().expect("events") {
            assert_eq!(fields(event), spelled("Those of a job have"), "{event}");
        }
        assert_eq!((&job["state"], &job["status"]), (&Value::Null, &"cancelled".into()), "{job}");
        let live = json(url, &["job", "show", "shape-1"]).await;
        assert_eq!((&live["state"], &live["status"]), (&"ready".into(), &"READY".into()), "{live}");
        let graph = json(url, &["graph", "sums"]).await;
        let steps = graph["graph"]["steps"].as_array().expect("steps");
        let all = steps.iter().map(|step| (step, "A step of one has"));
        for (shape, title) in all.chain([(&graph["graph"], "A shape has")]) {
            let mut names = spelled(title);
            names.retain(|name| name != "options" || shape.get("options").is_some());
            assert_eq!(fields(shape), names, "{shape}");
        }
    }
    Ok(())
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

/// Commands about a database, with arguments that are fine.
fn asked(failed: &str) -> Vec<(&'static str, Vec<&str>)> {
    vec![
        ("ls", vec!["ls"]),
        ("ls --flows", vec!["ls", "--flows"]),
        ("ls --queues", vec!["ls", "--queues"]),
        ("ls --workers", vec!["ls", "--workers"]),
        ("ls --jobs", vec!["ls", "--jobs"]),
        ("ls --hooks", vec!["ls", "--hooks"]),
        ("signal", vec!["signal", "somebody", "1"]),
        ("schedule add", vec!["schedule", "add", "nightly", "sums", "0 3 * * *", "[1]"]),
        ("ls --schedules", vec!["ls", "--schedules"]),
        ("schedule ls", vec!["schedule", "ls"]),
        ("schedule next", vec!["schedule", "next", "nightly"]),
        ("schedule fire", vec!["schedule", "fire", "nightly"]),
        ("schedule pause", vec!["schedule", "pause", "nightly"]),
        ("schedule resume", vec!["schedule", "resume", "nightly"]),
        ("schedule rm", vec!["schedule", "rm", "nightly"]),
        ("job ls", vec!["job", "ls"]),
        ("show JOB", vec!["show", "shape-2"]),
        ("job show", vec!["job", "show", "shape-2"]),
        ("why JOB", vec!["why", "shape-1"]),
        ("job submit", vec!["job", "submit", "n"]),
        ("job submit --wait", vec!["job", "submit", "n", "--id", "shape-0", "--wait"]),
        ("job cancel", vec!["job", "cancel", "shape-1", "--dry-run"]),
        ("job clear", vec!["job", "clear", "shape-1", "--dry-run"]),
        ("job redrive", vec!["job", "redrive", "shape-1", "--dry-run"]),
        ("dead ls", vec!["dead", "ls"]),
        ("dead redrive", vec!["dead", "redrive", "shape-3", "--dry-run"]),
        ("dead drop", vec!["dead", "drop", "shape-3", "--dry-run"]),
        ("queue depth", vec!["queue", "depth", "n"]),
        ("queue pause", vec!["queue", "pause", "n"]),
        ("queue resume", vec!["queue", "resume", "n"]),
        ("queue rate", vec!["queue", "rate", "api", "5/s"]),
        ("show RUN", vec!["show", failed]),
        ("why", vec!["why", failed]),
        ("start", vec!["start", "sums", "[1]"]),
        ("start --wait", vec!["start", "sums", "[1]", "--wait"]),
        ("graph", vec!["graph", failed]),
        ("retry", vec!["retry", failed, "--dry-run"]),
        ("cancel", vec!["cancel", "--flow", "slow", "--dry-run"]),
        ("prune", vec!["prune", "--older-than", "1d", "--dry-run"]),
        ("install", vec!["install"]),
        ("doctor", vec!["doctor", "--quick"]),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_are_as_documented() -> Outcome {
    let documented: BTreeMap<_, _> = documented().into_iter().collect();
    let shape = |command: &str| &documented[command];
    let mut seen = Vec::new();
    for place in [Fresh::sqlite().await?, Fresh::postgres().await?, Fresh::mysql().await?] {
        let (failed, worker) = busy(&place).await?;
        for (command, args) in asked(&failed) {
            // The other servers of tests always have a finding.
            if command == "doctor" && place.url.starts_with("sqlite:") {
                let edited = "update pgflow_migrations set checksum = 'x' where name like '0001%'";
                change(&place.url, edited, "").await?;
            }
            let on = format!("{command} on {}", place.url);
            let value = first(&place.url, &on, &args).await;
            assert_is(&on, &value, shape(command));
            assert_outcome(command, &value);
            seen.push(command.to_owned());
        }
        worker.stop().await?;
    }
    let source = Crate::new(&[("src/lib.rs", FLOW)]);
    let dir = source.dir.display().to_string();
    let scratch = Scratch::new("shapes")?;
    let (man, within) = (scratch.path().join("man"), scratch.path().display().to_string());
    let man = man.display().to_string();
    for args in [
        &["new", "shaped", "--within", &within][..],
        &["man", &man],
        &["check", "--dir", &dir],
        &["migrate", "--dir", &dir],
        &["undo", "--dir", &dir],
        &["keep", "--dir", &dir],
    ] {
        assert_is(args[0], &first("sqlite:none.db", args[0], args).await, shape(args[0]));
        seen.push(args[0].to_owned());
    }
    // Each has a test of its own: they need a server that goes on, a compiler, or git, or have another shape for each kind.
    seen.extend(["serve", "dev", "schema", "diff", "show FLOW", "tail"].map(str::to_owned));
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(documented.keys().collect::<Vec<_>>(), seen.iter().collect::<Vec<_>>());
    Ok(())
}

/// What events of each kind have besides what all have, as docs/cli.md says.
fn documented_events() -> BTreeMap<String, Vec<String>> {
    let manual = pgflow_cli::manual();
    let text = manual.split("\nEvents (").nth(1).expect("events").split("\n\n").next();
    let text = text.and_then(|text| text.split_once("no others: ")).expect("kinds").1;
    let mut events = BTreeMap::new();
    for part in text.split("\nThose of a job").next().unwrap_or(text).split(';') {
        // What stands in brackets are values.
        let part = part.split_once('(').map_or(part.to_owned(), |(before, rest)| {
            before.to_owned() + rest.split_once(')').expect("it ends").1
        });
        let words: Vec<_> = part.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        let (kinds, mut names): (Vec<_>, Vec<_>) =
            words.into_iter().partition(|word| word.contains(':'));
        names.sort_unstable();
        events.extend(kinds.into_iter().map(|kind| (kind, names.clone())));
    }
    events
}

/// Each event has the fields of its kind, and its moments are texts.
fn assert_events(events: &[Value], all_have: &[&str], seen: &mut BTreeSet<String>) {
    let documented = documented_events();
    for event in events {
        let kind = event["event"].as_str().expect("a kind");
        let of_kind = documented.get(kind).unwrap_or_else(|| panic!("{kind} is not documented"));
        let mut names: Vec<_> =
            of_kind.iter().map(String::as_str).chain(all_have.to_vec()).collect();
        names.sort_unstable();
        assert_eq!(fields(event), names, "{event}");
        for moment in ["at", "until"] {
            let moment = event.get(moment).filter(|at| !at.is_null());
            let is_text = |at: &Value| at.as_str().is_some_and(|at| at.ends_with('Z'));
            assert!(moment.is_none_or(is_text), "{event}");
        }
        seen.insert(kind.to_owned());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn events_have_the_fields_of_their_kind() -> Outcome {
    let mut seen = BTreeSet::new();
    for place in [Fresh::sqlite().await?, Fresh::postgres().await?, Fresh::mysql().await?] {
        let url = &*place.url;
        place.db.register(eventful::Flow).await?;
        let early = json(url, &["signal", "late-7", "\"no number\""]).await;
        assert_eq!(early["outcome"], "buffered", "{early}");
        let worker = Working::start(Worker::new(&place.db).flow(eventful::Flow));
        let run = place.db.start(eventful::Flow, 7).await?;
        let id = run.id().to_string();
        answer(url, &id).await?;
        assert_eq!(run.wait().await?, RunStatus::Failed);
        pgflow(url, &["retry", &id]).await;
        run.wait().await?;
        let good = place.db.start(eventful::Flow, 0).await?;
        answer(url, &good.id().to_string()).await?;
        assert_eq!(good.wait().await?, RunStatus::Completed);
        worker.stop().await?;
        let open = place.db.start(eventful::Flow, 0).await?;
        open.cancel("not needed").await?;
        for id in [id, good.id().to_string(), open.id().to_string()] {
            let tailed = pgflow(url, &["tail", &id, "--json"]).await.stdout();
            let lines = tailed.lines().map(serde_json::from_str).collect::<Result<Vec<_>, _>>()?;
            assert_events(&lines, &["run", "flow", "seq", "at", "event"], &mut seen);
            let shown = json(url, &["show", &id, "--events"]).await;
            let events = shown["events"].as_array().expect("events");
            assert_events(events, &["seq", "at", "event"], &mut seen);
        }
    }
    let documented: BTreeSet<_> = documented_events().into_keys().collect();
    assert_eq!(seen, documented, "each kind was seen");
    Ok(())
}

/// Answers the step of a run that waits for that, once it does; others wait, too.
async fn answer(url: &str, run: &str) -> Outcome {
    loop {
        let waits = json(url, &["ls", "--hooks"]).await;
        let mut all = waits["waits"].as_array().ok_or("waits")?.iter();
        for wait in all.clone() {
            let mut names = vec!["run", "step", "index", "attempt", "kind", "since", "until"];
            names.extend((wait["kind"] == "hook").then_some("token"));
            names.sort_unstable();
            assert_eq!(fields(wait), names, "{wait}");
        }
        if let Some(wait) = all.find(|wait| wait["run"] == run && wait["step"] == "asked") {
            let token = wait["token"].as_str().ok_or("a token")?;
            let signalled = json(url, &["signal", token, "7"]).await;
            assert_eq!(signalled["outcome"], "delivered", "{signalled}");
            return Ok(());
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}

/// Everything that can happen in a run.
#[pgflow::flow(input = u32, max_attempts = 1, base_delay = 0)]
mod eventful {
    use std::time::Duration;

    use pgflow::prelude::*;

    #[step]
    pub(crate) async fn asked(hook: Hook<u32>) -> Result<Waiting<u32>> {
        Ok(hook.wait())
    }

    #[step]
    pub(crate) async fn nap(ctx: Context) -> Result<Waiting<()>> {
        Ok(ctx.sleep(Duration::from_millis(10)))
    }

    #[step(wait_timeout = 1, when_exhausted = skip)]
    pub(crate) async fn late(run: u32) -> Result<Waiting<u32>> {
        Ok(Hook::named(format!("late-{run}"))?.wait())
    }

    #[step(depends_on = [asked])]
    pub(crate) async fn last(run: u32, asked: u32) -> Result<u32> {
        if run == asked { Err("no answer".into()) } else { Ok(run) }
    }
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
