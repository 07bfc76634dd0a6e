//! What a role had once.

use crate::harness::Db;

#[tokio::test]
async fn granting_anew_takes_back_what_is_no_longer_decided() {
    let db = Db::new().await;
    let may = "select has_function_privilege('pgflow_client', 'pgflow.check()', 'execute'),
                      has_table_privilege('pgflow_client', 'pgflow.runs', 'select')";
    db.run(
        "grant execute on function pgflow.check() to pgflow_client;
         grant select on pgflow.runs to pgflow_client",
    )
    .await;
    assert_eq!(db.one(may).await, "t|t");
    db.run("select pgflow.grant_roles()").await;
    assert_eq!(db.one(may).await, "f|f");
}
