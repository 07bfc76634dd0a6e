//! A run belongs to the transaction that started it.

use crate::harness::{Db, define};

#[tokio::test]
async fn a_rolled_back_start_never_happened() {
    let db = Db::with(&define("f", &["a"])).await;
    let mut session = db.session().await;
    session
        .run("begin; create table public.orders (id int); select pgflow.start_flow('f', '{}')")
        .await;
    assert_eq!(db.one("select count(*) from pgflow.runs").await, "0");
    assert_eq!(db.claim("f").await.len(), 0);
    session.run("rollback").await;
    let left = "select (select count(*) from pgflow.runs), (select count(*) from pgflow.events),
        (select count(*) from pgmq.q_f), to_regclass('public.orders')";
    assert_eq!(db.one(left).await, "0|0|0|NULL");
    db.check().await;
}

#[tokio::test]
async fn a_committed_start_is_there_with_the_callers_writes() {
    let db = Db::with(&define("f", &["a"])).await;
    let mut session = db.session().await;
    session
        .run("begin; create table public.orders (id int); select pgflow.start_flow('f', '{}')")
        .await;
    session.run("commit").await;
    assert_eq!(db.one("select to_regclass('public.orders')").await, "orders");
    assert_eq!(db.claim("f").await.len(), 1);
    db.check().await;
}

#[tokio::test]
async fn several_runs_start_in_one_transaction() {
    let db = Db::with(&define("f", &["a"])).await;
    db.run("select pgflow.start_flow('f', '1'); select pgflow.start_flow('f', '2')").await;
    assert_eq!(db.claim("f").await.len(), 2);
    db.check().await;
}

#[tokio::test]
async fn one_timestamp_serves_the_whole_call() {
    let db = Db::with(&define("f", &["a", "b after a"])).await;
    db.start("f", "{}").await;
    let times = "select count(distinct at) from (
        select started_at from pgflow.runs union all select created_at from pgflow.step_states
        union all select queued_at from pgflow.step_tasks
        union all select started_at from pgflow.step_states where started_at is not null) t(at)";
    assert_eq!(db.one(times).await, "1");
    db.check().await;
}
