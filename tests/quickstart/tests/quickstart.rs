//! `cargo run --example quickstart`, all its ways.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use pgflow_quickstart_tests::{Dir, example, what_it_shows};
use pgflow_test_support::{MariaDbDatabase, TestDb};

fn quickstart(dir: &Path, args: &[&str]) -> Output {
    example("quickstart", dir, args)
}

fn shown(dir: &Path, args: &[&str]) -> String {
    what_it_shows("quickstart", dir, args)
}

/// Every step is seen, in an order that the graph allows, and the output is there.
fn check(shown: &str) {
    let mut rest = shown;
    for line in [
        "website started",
        "website completed",
        "links completed",
        "check_link started, 24 tasks",
        "check_link 24/24",
        "check_link completed",
        "report started",
        "report completed",
        "run:completed",
        "sentiment: \"friendly\"",
        "https://example.org/page/13",
        "next:",
    ] {
        let at = rest.find(line).unwrap_or_else(|| panic!("no `{line}` in order in:\n{shown}"));
        rest = &rest[at..];
    }
    assert!(shown.contains("sentiment completed"), "{shown}");
    assert!(shown.matches("/24\n").count() >= 2, "the map's progress is seen: {shown}");
    assert!(!shown.contains("/0\n"), "there is no progress of a map without tasks: {shown}");
}

/// The worker is killed while it works, and another one finishes.
fn check_crash(shown: &str) {
    check(shown);
    let killed = shown.find("was killed with tasks in its hands").expect("it is killed");
    let over = shown.find("takes over").expect("another takes over");
    let end = shown.find("check_link completed").expect("the map ends");
    assert!(killed < over && over < end, "{shown}");
}

#[test]
fn in_a_file_and_again() {
    let dir = Dir::new("quickstart-file");
    check(&shown(&dir.0, &[]));
    assert!(dir.0.join("quickstart.db").exists());
    check(&shown(&dir.0, &[]));
}

#[test]
fn with_a_crash_in_a_file() {
    let dir = Dir::new("quickstart-crash");
    check_crash(&shown(&dir.0, &["--crash"]));
}

#[tokio::test]
async fn on_postgres() {
    let (dir, db) = (Dir::new("quickstart-postgres"), TestDb::empty().await);
    check(&shown(&dir.0, &["--database", &db.url()]));
    check_crash(&shown(&dir.0, &["--database", &db.url(), "--crash"]));
    assert!(!dir.0.join("quickstart.db").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn on_mariadb() {
    let (dir, db) = (Dir::new("quickstart-mariadb"), MariaDbDatabase::new().await);
    check(&shown(&dir.0, &["--database", &db.url()]));
    check_crash(&shown(&dir.0, &["--database", &db.url(), "--crash"]));
    assert!(!dir.0.join("quickstart.db").exists());
}

/// The program itself: a signal to cargo would not reach it.
fn program(dir: &Path) -> Child {
    assert!(quickstart(dir, &["--help"]).status.success(), "it compiles");
    let deps = std::env::current_exe().expect("this test");
    let program =
        deps.parent().and_then(Path::parent).expect("a directory").join("examples/quickstart");
    let mut command = Command::new(program);
    let command = command.current_dir(dir).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("it starts")
}

/// Reads what it prints until it prints this.
fn read_until(program: &mut Child, text: &str) {
    let mut lines = BufReader::new(program.stdout.as_mut().expect("a pipe")).lines();
    assert!(lines.any(|line| line.expect("text").contains(text)), "no `{text}`");
}

/// What an interrupt in the middle leads to.
fn interrupted(dir: &Path) -> Output {
    let mut program = program(dir);
    read_until(&mut program, "website completed");
    // The shell's own `kill`: the program of that name is not on every machine.
    let pid = program.id().to_string();
    let kill = Command::new("sh").args(["-c", "kill -INT $0"]).arg(pid).status();
    kill.expect("the shell runs");
    program.wait_with_output().expect("it ends")
}

#[test]
fn an_interrupt_says_what_comes_next() {
    let dir = Dir::new("quickstart-interrupt");
    // On a very busy machine a signal may come after the end.
    let mut tries = std::iter::repeat_with(|| interrupted(&dir.0)).take(10);
    let output = tries.find(|output| !output.status.success()).expect("the signal has an effect");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.contains("nothing is lost: start me again"), "{stdout}");
    assert_eq!(output.status.code(), Some(130));
    // The new run is not kept waiting by the old one.
    check(&shown(&dir.0, &[]));
}

#[test]
fn a_reader_that_leaves_is_no_panic() {
    let dir = Dir::new("quickstart-pipe");
    let mut program = program(&dir.0);
    read_until(&mut program, "run ");
    drop(program.stdout.take());
    let output = program.wait_with_output().expect("it ends");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(output.status.success(), "{}", output.status);
}

#[test]
fn in_memory_but_not_with_a_crash() {
    let dir = Dir::new("quickstart-memory");
    check(&shown(&dir.0, &["--database", "memory:"]));
    let refused = quickstart(&dir.0, &["--database", "memory:", "--crash"]);
    let stderr = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success());
    assert!(stderr.contains("needs a database that other processes can use"), "{stderr}");
    assert_eq!(String::from_utf8_lossy(&refused.stdout), "", "nothing was started");
    let typo = quickstart(&dir.0, &["--database", "sqllite:a.db"]);
    assert!(String::from_utf8_lossy(&typo.stderr).contains("did you mean `sqlite:`?"));
}
