//! Databases of one's own.

use pgflow_test_support::TestDb;

#[tokio::test]
async fn every_test_has_a_database_of_its_own() {
    let (one, other) = (TestDb::new().await, TestDb::new().await);
    sqlx::query("create table public.mine ()").execute(&one.pool).await.unwrap();
    let elsewhere = "select pg_catalog.to_regclass('public.mine') is null";
    assert!(sqlx::query_scalar::<_, bool>(elsewhere).fetch_one(&other.pool).await.unwrap());
}

#[tokio::test]
async fn the_core_is_there_unless_not_wanted() {
    let has_core = "select pg_catalog.to_regclass('pgflow.migrations') is not null";
    for (db, expected) in [(TestDb::new().await, true), (TestDb::empty().await, false)] {
        let found: bool = sqlx::query_scalar(has_core).fetch_one(&db.pool).await.unwrap();
        assert_eq!(found, expected);
    }
}

#[tokio::test]
async fn a_violated_invariant_fails_the_test() {
    let db = TestDb::new().await;
    sqlx::raw_sql(
        "drop function if exists pgflow.check();
         create function pgflow.check() returns table (rule text, detail text)
         language sql as $$ values ('I7', 'remaining_tasks is 3, counted 2') $$",
    )
    .execute(&db.pool)
    .await
    .unwrap();
    let panicked = tokio::spawn(async move { db.check().await }).await.unwrap_err();
    let message = panicked.into_panic().downcast::<String>().unwrap();
    assert!(message.contains("counted 2"), "{message}");
}
