//! The same crate on every database: what its build wrote makes its flow, and a worker runs it.

use pgflow::{RunStatus, Worker, client::Parts, definition::FlowMigrations};
use pgflow_example_shop::{
    MIGRATIONS,
    orders::{Article, Order, order},
};
use pgflow_worker_tests::{Fresh, Outcome, Working, everywhere};

everywhere!(the_embedded_migrations_make_a_flow_that_runs, a_run_outlives_its_version);

fn tea_and_cup() -> Order {
    let article = |name: &str, cents| Article { name: name.into(), cents };
    Order { customer: "Ann".into(), basket: vec![article("tea", 500), article("cup", 1000)] }
}

async fn the_embedded_migrations_make_a_flow_that_runs(fresh: Fresh) -> Outcome {
    let db = &fresh.db;
    let refused = db.start(order::Flow, &tea_and_cup()).await;
    assert!(refused.is_err(), "the database knows no such flow yet");
    assert_eq!(db.apply(&MIGRATIONS).await?.len(), MIGRATIONS.files.len());

    let worker = Working::start(Worker::new(db).flow(order::Flow));
    let run = db.start(order::Flow, &tea_and_cup()).await?;
    let letter = run.output().await?.letter;
    assert_eq!(letter.as_deref(), Some("Dear Ann, please pay 1800 cents."));
    worker.stop().await?;
    Ok(())
}

async fn a_run_outlives_its_version(fresh: Fresh) -> Outcome {
    let db = &fresh.db;
    db.apply(&FlowMigrations { files: &MIGRATIONS.files[..1], ..MIGRATIONS }).await?;
    let old = db.start(order::Flow, &tea_and_cup()).await?;
    db.apply(&MIGRATIONS).await?;
    let new = db.start(order::Flow, &tea_and_cup()).await?;

    let worker = Working::start(Worker::new(db).flow(order::Flow));
    assert_eq!(
        (old.wait().await?, new.wait().await?),
        (RunStatus::Completed, RunStatus::Completed)
    );
    worker.stop().await?;
    assert_eq!(old.record(Parts::Run).await?.flow, "order");
    assert_eq!(new.record(Parts::Run).await?.flow, "order__v2");
    Ok(())
}
