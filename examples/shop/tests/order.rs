//! The shop's migrations make a flow that runs.

use std::path::Path;

use pgflow::Registry;
use pgflow::serde_json::json;
use pgflow_build_tests::{Worker, start};
use pgflow_example_shop::{MIGRATIONS, orders::order};
use pgflow_runtime::postgres::{migrate_flows, versions};
use pgflow_test_support::TestDb;
use sqlx::PgPool;
use sqlx::migrate::Migrator;

async fn buys_two_articles(pool: &PgPool) {
    let registry = Registry::default().with(order::Flow).expect("a registry");
    let versions = versions(pool, &registry).await.expect("versions");
    assert!(versions.missing.is_empty(), "{versions:?}");

    let basket = json!([{ "name": "tea", "cents": 500 }, { "name": "cup", "cents": 1000 }]);
    let input = json!({ "customer": "Ann", "basket": basket });
    let run = start(pool, "order", &input).await.expect("a run");
    Worker::new(pool, &registry).work().await.expect("work");
    let run = run.now(pool).await.expect("the run");
    assert_eq!(run.status, "completed");
    assert_eq!(run.output, Some(json!({ "letter": "Dear Ann, please pay 1800 cents." })));
}

#[tokio::test]
async fn a_tool_applies_the_files() {
    let db = TestDb::new().await;
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
    Migrator::new(files).await.expect("migrations").run(&db.pool).await.expect("applied");
    buys_two_articles(&db.pool).await;
    db.check().await;
}

#[tokio::test]
async fn the_program_applies_what_it_embeds() {
    let db = TestDb::new().await;
    let first = migrate_flows(&db.pool, &MIGRATIONS).await.expect("applied");
    assert_eq!(first.len(), MIGRATIONS.files.len());
    let second = migrate_flows(&db.pool, &MIGRATIONS).await.expect("applied");
    assert!(second.is_empty(), "{second:?}");
    buys_two_articles(&db.pool).await;
    db.check().await;
}
