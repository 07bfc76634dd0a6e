//! What cannot be of resources is found when it is.

use pgflow_mysql_tests::{chain, ensure, start};
use pgflow_runtime::backend::{Backend, Pipelines};
use pgflow_runtime::mysql::MySql;
use pgflow_test_support::MariaDbDatabase;
use serde_json::json;
use sqlx::{Connection, MySqlConnection};

use crate::holding::{BREAKS, hold};

#[tokio::test(flavor = "multi_thread")]
async fn what_is_held_is_checked() {
    let database = MariaDbDatabase::new().await;
    let mysql = MySql::connect(&database.url()).await.expect("it can be used");
    mysql.migrate().await.expect("it gets its schema");
    ensure(&mysql, &chain("orders", 1)).await;
    start(&mysql, "orders", json!({})).await;
    hold(&mysql, "orders").await;
    assert_eq!(mysql.check().await.expect("checked"), Vec::<String>::new());
    let mut own = MySqlConnection::connect(&database.url()).await.expect("a connection");
    for (breaks, mends, said) in BREAKS {
        sqlx::query(breaks).execute(&mut own).await.expect("it can be broken");
        let found = mysql.check().await.expect("checked");
        assert!(found.iter().any(|sentence| sentence.contains(said)), "{breaks}: {found:?}");
        sqlx::query(mends).execute(&mut own).await.expect("it can be mended");
        assert_eq!(mysql.check().await.expect("checked"), Vec::<String>::new(), "{breaks}");
    }
    mysql.set_capacity("gpu", 1).await.expect("less of it");
    assert_eq!(mysql.check().await.expect("checked"), Vec::<String>::new(), "who holds keeps it");
}
