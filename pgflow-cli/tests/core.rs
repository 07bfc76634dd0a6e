//! `cargo pgflow migrate --core`: the core and a flow, from files alone.

mod support;

use pgflow_build_tests::{Scratch, start};
use pgflow_runtime::postgres::install_pgmq;
use pgflow_test_support::TestDb;
use sqlx::migrate::Migrator;
use support::cargo_pgflow;

const FLOW: &str =
    "#[pgflow::flow]\npub mod mail { #[step] pub async fn send() -> Result<u8> { Ok(1) } }\n";

#[tokio::test]
async fn an_empty_database_gets_the_core_and_the_flow_from_one_directory() {
    let scratch = Scratch::new(&[("src/lib.rs", FLOW)]);
    let ran = cargo_pgflow(&scratch.dir, &["migrate", "--core"]);
    assert_eq!(ran.code(), Some(0), "{}", ran.text());
    let names: Vec<_> = scratch.files().into_keys().collect();
    assert!(names.last().expect("files").ends_with("_create_mail.sql"), "{names:?}");
    assert_eq!(ran.stdout().lines().count(), names.len() + 1, "one line per file: {}", ran.text());

    let db = TestDb::empty().await;
    install_pgmq(&db.pool).await.expect("pgmq");
    let migrator = Migrator::new(scratch.dir.join("migrations")).await.expect("migrations");
    migrator.run(&db.pool).await.expect("applied");
    let run = start(&db.pool, "mail", &"{}".parse().expect("JSON")).await.expect("a run");
    assert_eq!((&*run.flow_slug, &*run.status), ("mail", "started"));

    let again = cargo_pgflow(&scratch.dir, &["migrate", "--core"]);
    assert_eq!((again.code(), again.stdout()), (Some(0), String::new()));
    assert_eq!(cargo_pgflow(&scratch.dir, &["check"]).code(), Some(0));
}

#[test]
fn the_core_comes_in_every_style() {
    for (style, first) in
        [("sqlx", "0001_pgflow_"), ("refinery", "V1__pgflow_"), ("plain", "pgflow.sql")]
    {
        let scratch = Scratch::new(&[("src/lib.rs", FLOW)]);
        let ran = cargo_pgflow(&scratch.dir, &["migrate", "--core", "--style", style]);
        assert_eq!(ran.code(), Some(0), "{style}: {}", ran.text());
        let names: Vec<_> = scratch.files().into_keys().collect();
        assert!(names.iter().any(|name| name.starts_with(first)), "{style}: {names:?}");
        let again = cargo_pgflow(&scratch.dir, &["migrate", "--core"]);
        assert_eq!(again.stdout(), "", "{style}: the lock knows it");
    }
}

/// Every migration of a directory, applied by their numbers.
async fn apply(scratch: &Scratch) {
    let db = TestDb::empty().await;
    install_pgmq(&db.pool).await.expect("pgmq");
    let migrator = Migrator::new(scratch.dir.join("migrations")).await.expect("migrations");
    migrator.run(&db.pool).await.expect("applied");
}

#[tokio::test]
async fn a_core_that_comes_late_is_put_before_the_flows() {
    let scratch = Scratch::new(&[("src/lib.rs", FLOW)]);
    assert_eq!(scratch.draft(), ["0001_create_mail.sql", "pgflow.lock"], "the build was first");
    let ran = cargo_pgflow(&scratch.dir, &["migrate", "--core"]);
    assert_eq!(ran.code(), Some(0), "{}", ran.text());
    let names: Vec<_> = scratch.files().into_keys().collect();
    assert!(names[0].starts_with("0001_pgflow_"), "{names:?}");
    assert!(names.last().expect("files").ends_with("_create_mail.sql"), "{names:?}");
    apply(&scratch).await;
    assert_eq!(cargo_pgflow(&scratch.dir, &["check"]).code(), Some(0));
}

#[tokio::test]
async fn a_core_that_finds_no_number_before_a_permanent_flow_says_what_to_do() {
    let scratch = Scratch::new(&[("src/lib.rs", FLOW)]);
    scratch.migrate();
    let before = scratch.files();
    let ran = cargo_pgflow(&scratch.dir, &["migrate", "--core"]);
    assert_eq!(ran.code(), Some(1), "{}", ran.text());
    assert!(ran.text().contains("`0001_create_mail.sql` needs the core"), "{}", ran.text());
    assert_eq!(scratch.files(), before, "nothing is written");

    // What it says to do.
    let needed = ran.text().split("give it the number ").nth(1).expect("a number").to_owned();
    let needed: u32 = needed.split(' ').next().expect("a number").parse().expect("a number");
    scratch.write(
        &format!("migrations/{needed:04}_create_mail.sql"),
        &scratch.read("migrations/0001_create_mail.sql"),
    );
    scratch.remove("migrations/0001_create_mail.sql");
    let ran = cargo_pgflow(&scratch.dir, &["migrate", "--core"]);
    assert_eq!(ran.code(), Some(0), "{}", ran.text());
    apply(&scratch).await;
}

#[test]
fn a_core_after_a_flow_is_not_up_to_date() {
    let scratch = Scratch::new(&[("src/lib.rs", FLOW)]);
    scratch.draft();
    scratch.write("migrations/0002_pgflow_schema.sql", "-- pgflow unit: 0001_schema 00\n");
    let ran = cargo_pgflow(&scratch.dir, &["check"]);
    assert_eq!(ran.code(), Some(1), "{}", ran.text());
    let words = "`0002_pgflow_schema.sql` comes after `0001_create_mail.sql`, which needs it";
    assert!(ran.text().contains(words), "{}", ran.text());

    // `a_core_that_comes_late_is_put_before_the_flows` does that.
    let command = "help: run `cargo pgflow migrate --core`, which puts the core first";
    assert!(ran.text().contains(command), "{}", ran.text());
}
