//! Registering flows.

use pgflow_model::StepShape;
use pgflow_postgres_backend_tests::{Bench, start, version};
use pgflow_runtime::backend::{BackendError, Definitions, Ensured, Runs};
use pgflow_runtime::postgres::Postgres;
use serde_json::json;

#[tokio::test]
async fn a_flow_is_created_once_and_compared_afterwards() {
    let bench = Bench::new().await;
    let steps = [StepShape::new("a"), StepShape::new("b").after("a")];
    let flow = version("shop", steps.clone());
    assert_eq!(bench.postgres.ensure_flow(&flow).await.unwrap(), Ensured::Created);
    assert_eq!(bench.postgres.ensure_flow(&flow).await.unwrap(), Ensured::Same);
    let other = version("shop", [steps[0].clone(), StepShape::new("c").after("a")]);
    let Ensured::Conflict(differences) = bench.postgres.ensure_flow(&other).await.unwrap() else {
        panic!("another graph must not pass")
    };
    let expected = ["step `c` is not in the database", "step `b` is in the database only"];
    assert_eq!(differences, expected);
}

#[tokio::test]
async fn the_order_in_which_steps_were_created_does_not_matter() {
    let bench = Bench::new().await;
    bench
        .sql(
            "select pgflow.create_flow('pair'); select pgflow.add_step('pair', 'z');
             select pgflow.add_step('pair', 'a')",
        )
        .await;
    let flow = version("pair", [StepShape::new("a"), StepShape::new("z")]);
    assert_eq!(bench.postgres.ensure_flow(&flow).await.unwrap(), Ensured::Same);
}

#[tokio::test]
async fn new_runs_use_the_newest_version() {
    let bench = Bench::new().await;
    let first = version("shop", [StepShape::new("a")]);
    let mut second = version("shop_v2", [StepShape::new("b")]);
    (second.flow, second.version) = ("shop".into(), 2);
    assert_eq!(bench.postgres.ensure_flow(&first).await.unwrap(), Ensured::Created);
    let old = start(&bench.postgres, "shop", json!(1)).await;
    assert_eq!(bench.postgres.ensure_flow(&second).await.unwrap(), Ensured::Created);
    assert_eq!(bench.postgres.ensure_flow(&second).await.unwrap(), Ensured::Same);
    assert_eq!(bench.postgres.ensure_flow(&first).await.unwrap(), Ensured::Same);
    start(&bench.postgres, "shop", json!(2)).await;
    let versions = bench.postgres.versions(&["shop"]).await.unwrap();
    let seen: Vec<_> = versions
        .iter()
        .map(|known| (known.version, known.slug.as_str(), known.is_current, known.open_runs))
        .collect();
    assert_eq!(seen, [(1, "shop", false, 1), (2, "shop_v2", true, 1)]);
    let record = bench.postgres.run(old, pgflow_runtime::backend::Parts::Run).await.unwrap();
    assert_eq!(record.unwrap().flow, "shop");
}

#[tokio::test]
async fn a_version_number_is_taken_once() {
    let bench = Bench::new().await;
    let mut one = version("shop_v2", [StepShape::new("a")]);
    (one.flow, one.version) = ("shop".into(), 2);
    let mut two = version("shop_other", [StepShape::new("b")]);
    (two.flow, two.version) = ("shop".into(), 2);
    assert_eq!(bench.postgres.ensure_flow(&one).await.unwrap(), Ensured::Created);
    let Ensured::Conflict(why) = bench.postgres.ensure_flow(&two).await.unwrap() else {
        panic!("two flows with one number")
    };
    assert!(why[0].contains("shop_v2"), "{why:?}");
}

#[tokio::test]
async fn a_worker_without_rights_may_compare_and_not_create() {
    let bench = Bench::new().await;
    let name = bench.db.name().to_owned();
    let role = format!("worker_of_{name}");
    let create = format!("create role {role} login; grant pgflow_worker to {role}");
    sqlx::raw_sql(sqlx::AssertSqlSafe(create)).execute(&bench.db.pool).await.unwrap();
    let url = bench.db.url().replace("user=postgres", &format!("user={role}"));
    let worker = Postgres::connect(&url).await.unwrap();
    let known = version("two", [StepShape::new("first"), StepShape::new("second").after("first")]);
    assert_eq!(worker.ensure_flow(&known).await.unwrap(), Ensured::Same);
    let error = worker.ensure_flow(&version("new", [StepShape::new("a")])).await.unwrap_err();
    assert!(matches!(&error, BackendError::UnknownFlow { flow } if flow == "new"), "{error:?}");
}
