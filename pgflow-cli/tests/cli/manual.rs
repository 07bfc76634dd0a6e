//! docs/cli.md says what the program can do.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use crate::place::Scratch;

#[test]
fn the_manual_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/cli.md");
    let manual = pgflow_cli::manual();
    if std::env::var_os("PGFLOW_WRITE").is_some() {
        std::fs::write(&path, &manual).expect("it can be written");
    }
    let written = std::fs::read_to_string(&path).expect("docs/cli.md is there");
    let fix = "write it with `PGFLOW_WRITE=1 cargo test -p pgflow-cli --test cli manual`";
    assert!(written == manual, "docs/cli.md is not what the commands say; {fix}");
}

#[test]
fn every_command_has_an_example() {
    has_examples(&pgflow_cli::command(), "pgflow");
}

fn has_examples(above: &clap::Command, path: &str) {
    for command in above.get_subcommands() {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let name = format!("{path} {}", command.get_name());
        assert!(help.contains(&name), "{name}: {help}");
        has_examples(command, &name);
    }
}

#[test]
fn every_command_has_a_page() {
    let scratch = Scratch::new("man").expect("a directory");
    let mut man = Command::new(env!("CARGO_BIN_EXE_pgflow"));
    assert!(man.arg("man").arg(scratch.path()).status().expect("it runs").success());
    let page = |name: &str| {
        std::fs::read_to_string(scratch.path().join(format!("{name}.1"))).expect("a page")
    };
    assert!(page("pgflow").contains("Exit codes: 0 all is well"));
    for command in pgflow_cli::command().get_subcommands() {
        let (name, page) = (command.get_name(), page(&format!("pgflow-{}", command.get_name())));
        assert!(page.contains(".TH") && page.contains(&format!("pgflow {name}")), "{name}: {page}");
    }
    for command in ["ls", "show", "submit", "cancel", "clear", "redrive"] {
        let page = page(&format!("pgflow-job-{command}"));
        assert!(page.contains(&format!("pgflow job {command}")), "{command}: {page}");
    }
}

/// A file of the workspace.
fn source(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The words that a function `code` answers with.
fn codes_of(path: &str) -> BTreeSet<String> {
    let source = source(path);
    let (_, code) = source.split_once("pub fn code(").expect("it has codes");
    let body = code.split("\n    }\n").next().expect("it ends");
    body.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The words that findings are made with, in all files of a directory.
fn findings_in(directory: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            findings_in(&path, found);
        } else {
            let source = std::fs::read_to_string(&path).expect("text");
            let calls = source.split(".find(").skip(1);
            let words =
                calls.filter_map(|call| call.trim_start().strip_prefix('"')?.split('"').next());
            found.extend(words.filter(|word| !word.contains(' ')).map(str::to_owned));
        }
    }
}

/// What stands in backticks between two texts of the manual.
fn listed(from: &str, to: &str) -> BTreeSet<String> {
    let manual = pgflow_cli::manual();
    let (_, rest) = manual.split_once(from).expect("the list");
    let list = rest.split(to).next().expect("its end");
    list.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn the_manual_lists_every_reason_and_finding() {
    let mut of_runs = codes_of("pgflow-runtime/src/client/why/reason.rs");
    // A permit is called after what cannot be had.
    of_runs.extend(["rate", "resource"].map(str::to_owned));
    assert_eq!(listed("Reasons of `why`, of a run:", "; of a job:"), of_runs);
    let of_jobs = codes_of("pgflow-runtime/src/client/job/why/reason.rs");
    assert_eq!(listed("; of a job:", "`hidden-workers` says"), of_jobs);

    let mut findings = BTreeSet::new();
    for directory in [
        "pgflow-backend/src/backend/upkeep",
        "pgflow-sqlite/src/upkeep",
        "pgflow-mysql/src/upkeep",
        "pgflow-postgres/src/upkeep",
        "pgflow-cli/src/doctor",
    ] {
        findings_in(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(directory),
            &mut findings,
        );
    }
    let documented = listed("Findings of `doctor`, on every database:", "\n\nEvents");
    let missing: Vec<_> = findings.difference(&documented).collect();
    assert!(missing.is_empty(), "not in the manual: {missing:?}");
    // These are chosen where they are found.
    let chosen = [
        "violation",
        "ring",
        "schema-missing",
        "schema-newer",
        "fsync-off",
        "full-page-writes-off",
        "synchronous-commit-off",
    ];
    let more: Vec<_> =
        documented.difference(&findings).filter(|code| !chosen.contains(&code.as_str())).collect();
    assert!(more.is_empty(), "nobody finds: {more:?}");
}
