//! All checks on MariaDB.

use std::sync::Arc;

use pgflow_conformance::subjects::OnMySql;
use pgflow_conformance::{Options, Subject, assert_passed, loads_what_is_asked_for, run};
use pgflow_runtime::backend::Backend as _;
use pgflow_runtime::mysql::MySql;
use pgflow_test_support::MariaDbDatabase;

#[tokio::test(flavor = "multi_thread")]
async fn mysql_does_what_every_backend_must() {
    let subject = || Arc::new(OnMySql::new()) as Arc<dyn Subject>;
    assert_passed("mysql", &run(&[subject(), subject()], &Options::from_env()).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn mysql_loads_what_commands_ask_for() {
    let database = MariaDbDatabase::new().await;
    let mysql = MySql::connect(&database.url()).await.expect("it can be used");
    mysql.migrate().await.expect("it gets its schema");
    loads_what_is_asked_for(&mysql).await;
}
