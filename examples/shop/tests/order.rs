//! The shop's migrations make a flow that runs, also while it changes.

use std::path::Path;

use pgflow::{Db, Flow as _, Worker, definition::FlowMigrations, model::Operation};
use pgflow_build_tests::{all_ended, start};
use pgflow_example_shop::{MIGRATIONS, orders::order};
use pgflow_runtime::postgres::{Postgres, migrate_flows};
use pgflow_test_support::TestDb;
use serde_json::{Value, json};
use sqlx::PgPool;
use sqlx::migrate::Migrator;

/// Lets a worker with the code of today work until no run is open.
async fn work(pool: &PgPool) {
    let db = Db::new(Postgres::with_pool(pool.clone()).await.expect("a backend"));
    let worker = Worker::new(&db).flow(order::Flow);
    worker.run(all_ended(pool.clone(), vec!["order", "order__v2"])).await.expect("it works");
}

fn tea_and_cup() -> Value {
    let basket = json!([{ "name": "tea", "cents": 500 }, { "name": "cup", "cents": 1000 }]);
    json!({ "customer": "Ann", "basket": basket })
}

async fn buys_two_articles(pool: &PgPool) {
    let run = start(pool, "order", &tea_and_cup()).await.expect("a run");
    work(pool).await;
    let run = run.now(pool).await.expect("the run");
    assert_eq!((&*run.flow_slug, &*run.status), ("order__v2", "completed"));
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

#[tokio::test]
async fn new_code_finishes_runs_of_a_version_it_is_compatible_with() {
    let db = TestDb::new().await;
    let first = FlowMigrations { files: &MIGRATIONS.files[..1], ..MIGRATIONS };
    migrate_flows(&db.pool, &first).await.expect("applied");
    let run = start(&db.pool, "order", &tea_and_cup()).await.expect("a run");
    migrate_flows(&db.pool, &MIGRATIONS).await.expect("applied");

    work(&db.pool).await;
    let done = "select flow_slug || '/' || step_slug from pgflow.step_tasks
        where status = 'completed' order by 1";
    let done: Vec<String> = sqlx::query_scalar(done).fetch_all(&db.pool).await.expect("tasks");
    assert_eq!(done, ["order/basket", "order/bill", "order/price", "order/price"]);
    let run = run.now(&db.pool).await.expect("the run");
    assert_eq!((&*run.flow_slug, &*run.status), ("order", "completed"));
    assert_eq!(run.output, Some(json!({ "bill": { "customer": "Ann", "cents": 1800 } })));
    db.check().await;
}

#[test]
fn the_code_knows_its_version() {
    let def = order::Flow::DEF;
    assert_eq!((def.version, def.version_slug), (2, "order__v2"));
    assert_eq!(def.finishes[0].renamed, [("bill", "invoice")]);
}

#[test]
fn other_databases_get_the_same_as_data() {
    let operations = MIGRATIONS.files[1].operations().expect("operations");
    let [Operation::CreateVersion { version: 2, slug, shape }] = &operations[..] else {
        panic!("one version is created, not {operations:?}");
    };
    assert_eq!((&**slug, &*shape.slug), ("order__v2", "order"));
    let graph = order::Flow::shape().normalized();
    assert_eq!(shape.to_json(), graph.to_json());
}
