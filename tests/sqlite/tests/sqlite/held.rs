//! What cannot be of resources is found when it is.

use pgflow_machine::RunId;
use pgflow_runtime::backend::{NewRun, Pipelines, Runs};
use pgflow_sqlite_tests::{Scratch, chain, ensure};
use serde_json::json;
use sqlx::{Connection, SqliteConnection};

use crate::holding::{BREAKS, hold};

#[tokio::test]
async fn what_is_held_is_checked() {
    let scratch = Scratch::new();
    let sqlite = scratch.open().await;
    ensure(&sqlite, &chain("orders", 1)).await;
    sqlite.start(NewRun::new("orders", json!({}), RunId::new())).await.expect("a run");
    hold(&sqlite, "orders").await;
    assert_eq!(sqlite.check().await.expect("checked"), Vec::<String>::new());
    let url = format!("sqlite:{}", scratch.file().display());
    let mut own = SqliteConnection::connect(&url).await.expect("the file is there");
    for (breaks, mends, said) in BREAKS {
        sqlx::query(breaks).execute(&mut own).await.expect("it can be broken");
        let found = sqlite.check().await.expect("checked");
        assert!(found.iter().any(|sentence| sentence.contains(said)), "{breaks}: {found:?}");
        sqlx::query(mends).execute(&mut own).await.expect("it can be mended");
        assert_eq!(sqlite.check().await.expect("checked"), Vec::<String>::new(), "{breaks}");
    }
    sqlite.set_capacity("gpu", 1).await.expect("less of it");
    assert_eq!(sqlite.check().await.expect("checked"), Vec::<String>::new(), "who holds keeps it");
}
