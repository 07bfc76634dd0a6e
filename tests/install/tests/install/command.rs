//! The command line, exactly as scripts type it.

use std::path::Path;
use std::process::{Command, Output};

use pgflow_install_tests::Directory;
use pgflow_test_support::TestDb;

/// `cargo run --example migrate -- …` in the root of the repository.
fn migrate(args: &[&str]) -> Output {
    Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--example", "migrate", "--"])
        .args(args)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[tokio::test]
async fn it_checks_installs_and_is_done() {
    let db = TestDb::empty().await;
    let url = db.url();
    let behind = migrate(&["--database", &url, "--check"]);
    assert_eq!(behind.status.code(), Some(1), "{}", stderr(&behind));
    assert!(stdout(&behind).contains("  pgmq\n  0001_schema\n"), "{}", stdout(&behind));

    let first = migrate(&["--database", &url]);
    assert_eq!(first.status.code(), Some(0), "{}", stderr(&first));
    assert!(stdout(&first).starts_with("applied "), "{}", stdout(&first));

    let done = migrate(&["--database", &url, "--check"]);
    assert_eq!(done.status.code(), Some(0));
    assert!(stdout(&done).starts_with("up to date"), "{}", stdout(&done));

    let json = stdout(&migrate(&["--database", &url, "--json"]));
    assert!(json.starts_with(r#"{"applied":[],"pgmq":{"source":"#), "{json}");
}

#[tokio::test]
async fn it_installs_pgmq_alone() {
    let db = TestDb::empty().await;
    let output = migrate(&["--database", &db.url(), "--pgmq-only"]);
    assert!(stdout(&output).starts_with("pgmq "), "{}", stderr(&output));
    let schemas =
        "select string_agg(nspname, ' ') from pg_namespace where nspname ~ '^pg(mq|flow)$'";
    assert_eq!(pgflow_install_tests::value(&db, schemas).await, "pgmq");
}

#[test]
fn it_writes_files_for_every_tool() {
    for (format, file) in [
        ("psql", "pgflow.sql"),
        ("sqlx", "0001_pgflow_schema.sql"),
        ("refinery", "V1__pgflow_schema.sql"),
    ] {
        let dir = Directory::empty();
        let path = dir.path().display().to_string();
        let output = migrate(&["--emit", &path, "--format", format]);
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(stdout(&output).contains(file) && dir.path().join(file).is_file());
    }
}

#[test]
fn no_error_holds_the_password() {
    for (url, expected) in [
        ("postgres://someone:s3cret@127.0.0.1:1/app", "cannot connect to the database: "),
        ("postgres://someone:s3cret@127.0.0.1:port/app", "is not a URL of a Postgres database"),
        ("mysql://someone:s3cret@127.0.0.1/app", "is not a URL of a Postgres database"),
        ("postgres://someone:s3cret@127.0.0.1/app?sslmode=s3cret", "is not a URL"),
    ] {
        for json in [&[][..], &["--json"]] {
            let output = migrate(&[&["--database", url], json].concat());
            let said = stdout(&output) + &stderr(&output);
            assert_eq!(output.status.code(), Some(1), "{said}");
            assert!(said.contains(expected) && !said.contains("s3cret"), "{said}");
        }
    }
}

#[tokio::test]
async fn a_wrong_password_is_not_repeated() {
    let db = TestDb::empty().await;
    let url = db.url().replace("user=postgres", "user=nobody_here&password=s3cret");
    let output = migrate(&["--database", &url]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("nobody_here") && !said.contains("s3cret"), "{said}");
}

#[test]
fn help_shows_examples() {
    let help = stdout(&migrate(&["--help"]));
    for word in ["--database", "--emit", "--format", "--check", "--json", "cargo run --example"] {
        assert!(help.contains(word), "{help}");
    }
}
