//! Without a superuser.

use pgflow_install_tests::execute;
use pgflow_test_support::{TestDb, core};
use sqlx::PgPool;

/// Connects as a role that may create schemas here, and nothing else.
async fn pool_of_role(db: &TestDb, grant: &str) -> PgPool {
    // Roles outlive the database on a server that is not ours.
    let role = &format!("{}_role", db.name());
    let grant = grant.replace("DATABASE", db.name()).replace("ROLE", role);
    execute(db, &format!("create role {role} login; {grant}")).await;
    let options: sqlx::postgres::PgConnectOptions = db.url().parse().unwrap();
    PgPool::connect_with(options.username(role)).await.unwrap()
}

async fn installs_after(grant: &str) {
    let db = TestDb::empty().await;
    let pool = pool_of_role(&db, grant).await;
    core().migrate(&pool).await.unwrap();
    assert!(core().migrate(&pool).await.unwrap().applied.is_empty());
    let start = "select pgflow.create_flow('greet'); select pgflow.add_step('greet', 'hello');
                 select pgflow.start_flow('greet', '{}')";
    sqlx::raw_sql(start).execute(&pool).await.unwrap();
    let queued: i64 =
        sqlx::query_scalar("select count(*) from pgmq.q_greet").fetch_one(&pool).await.unwrap();
    assert_eq!(queued, 1);
}

#[tokio::test]
async fn the_owner_of_a_database_can_install() {
    installs_after("alter database DATABASE owner to ROLE").await;
}

#[tokio::test]
async fn whoever_may_create_schemas_can_install() {
    installs_after("grant create on database DATABASE to ROLE").await;
}
