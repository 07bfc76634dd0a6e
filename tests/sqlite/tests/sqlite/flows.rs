//! Migrations of flows, and options that change under running processes.

use std::time::Duration;

use pgflow_model::{FlowShape, Operation, StepOptions};
use pgflow_runtime::backend::{BackendError, Definitions, Parts, Runs, Work};
use pgflow_runtime::{FlowMigration, FlowMigrations};
use pgflow_sqlite_tests::{Scratch, chain, claim, start};
use serde_json::{Value, json};

fn operations(operations: &[Operation]) -> &'static str {
    let json: Value = operations.iter().map(Operation::to_json).collect();
    json.to_string().leak()
}

fn file(name: &'static str, all: &[Operation]) -> FlowMigration {
    FlowMigration { name, checksum: name, sql: "", operations_json: operations(all) }
}

fn migrations(files: Vec<FlowMigration>) -> FlowMigrations {
    FlowMigrations { package: "shop", files: files.leak(), notes: None }
}

fn create(shape: FlowShape) -> Operation {
    Operation::CreateVersion { version: 1, slug: shape.slug.clone(), shape }
}

fn timeout(seconds: u32) -> StepOptions {
    StepOptions { timeout: Some(seconds), ..StepOptions::INHERIT }
}

#[tokio::test]
async fn each_file_is_applied_once_and_options_reach_every_process() {
    let scratch = Scratch::new();
    let (here, there) = (scratch.open().await, scratch.open().await);
    let first = file("0001", &[create(chain("orders", 2))]);
    let files = migrations(vec![first]);
    assert_eq!(here.apply(&files).await.expect("applied"), ["0001"]);
    assert_eq!(there.apply(&files).await.expect("nothing to do"), [""; 0]);
    start(&there, "orders", json!(1)).await;
    start(&there, "orders", json!(2)).await;
    let one = claim("orders", 1);
    let before = there.claim(&one).await.expect("a claim").tasks.remove(0);
    assert_eq!(before.timeout, Duration::from_mins(1));

    let slug = "orders".to_owned();
    let flow = Operation::SetFlowOptions { slug: slug.clone(), options: timeout(7) };
    let step = Operation::SetStepOptions { slug, step: "s1".into(), options: timeout(9) };
    let files = migrations(vec![first, file("0002", &[flow, step])]);
    assert_eq!(here.apply(&files).await.expect("applied"), ["0002"]);
    let after = there.claim(&one).await.expect("a claim").tasks.remove(0);
    assert_eq!(after.timeout, Duration::from_secs(7), "the other process has read it again");
}

#[tokio::test]
async fn a_file_that_changed_or_contradicts_is_refused_as_a_whole() {
    let scratch = Scratch::new();
    let sqlite = scratch.open().await;
    let first = file("0001", &[create(chain("orders", 2))]);
    sqlite.apply(&migrations(vec![first])).await.expect("applied");
    let changed = FlowMigration { checksum: "other", ..first };
    let error = sqlite.apply(&migrations(vec![changed])).await.expect_err("it changed");
    assert!(matches!(error, BackendError::Refused(_)), "{error:?}");
    let told = format!("{error:?}");
    assert!(told.contains("migration `0001` was applied and has changed since\nhelp: put it back as it was applied"), "{told}");
    // Whoever follows it goes on, with a migration of its own for what has changed.
    let next = file("0002", &[create(chain("returns", 1))]);
    let applied = sqlite.apply(&migrations(vec![first, next])).await.expect("as it was applied");
    assert_eq!(applied, ["0002"]);
    // The other advice: a database that was only for development is made anew.
    let anew = Scratch::new();
    let again = anew.open().await.apply(&migrations(vec![changed])).await.expect("applied");
    assert_eq!(again, ["0001"]);

    let third = file("0003", &[create(chain("refunds", 1)), create(chain("orders", 3))]);
    let error =
        sqlite.apply(&migrations(vec![first, next, third])).await.expect_err("another graph");
    assert!(matches!(error, BackendError::Refused(_)), "{error:?}");
    let known = sqlite.versions(&["refunds", "orders"]).await.expect("versions");
    assert_eq!(known.len(), 1, "nothing of the file was applied: {known:?}");
}

#[tokio::test]
async fn a_deleted_version_takes_its_runs_with_it() {
    let scratch = Scratch::new();
    let sqlite = scratch.open().await;
    let first = file("0001", &[create(chain("orders", 1)), create(chain("refunds", 1))]);
    sqlite.apply(&migrations(vec![first])).await.expect("applied");
    let gone = start(&sqlite, "orders", json!(1)).await;
    let kept = start(&sqlite, "refunds", json!(1)).await;
    let delete = file("0002", &[Operation::DeleteVersion { slug: "orders".into() }]);
    sqlite.apply(&migrations(vec![first, delete])).await.expect("applied");
    assert!(sqlite.run(gone, Parts::Run).await.expect("asked").is_none());
    assert!(sqlite.run(kept, Parts::Run).await.expect("asked").is_some());
    assert!(sqlite.claim(&claim("orders", 9)).await.expect("a claim").tasks.is_empty());
    assert_eq!(sqlite.claim(&claim("refunds", 9)).await.expect("a claim").tasks.len(), 1);
    assert_eq!(sqlite.check().await.expect("checked"), Vec::<String>::new());
}
