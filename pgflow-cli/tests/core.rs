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
