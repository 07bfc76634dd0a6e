//! Servers that end when they should.

use std::path::PathBuf;

use pgflow_test_support::{Server, ServerOptions, TestDb};

use crate::victim::{
    ends_with_its_value, kill_while_it_runs, kill_while_it_starts, stay_if_victim,
};

fn start() -> Server {
    Server::start(ServerOptions::default()).unwrap()
}

#[test]
fn a_killed_test_process_leaves_nothing_behind() {
    let mut server = None;
    stay_if_victim(|| directory(server.insert(start())));
    kill_while_it_runs("server::a_killed_test_process_leaves_nothing_behind");
}

#[test]
fn a_test_process_killed_while_it_starts_one_leaves_nothing_behind() {
    let mut server = None;
    stay_if_victim(|| directory(server.insert(start())));
    kill_while_it_starts("server::a_test_process_killed_while_it_starts_one_leaves_nothing_behind");
}

#[test]
fn a_server_ends_with_its_value() {
    let server = start();
    let dir = directory(&server);
    ends_with_its_value(server, &dir);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_durable_server_keeps_what_was_committed() {
    let options = ServerOptions { fsync: true, ..ServerOptions::default() };
    let mut server = Server::start(options).unwrap();
    let db = TestDb::empty_on(&server).await;
    let mut connection = db.connect().await;
    let create = "create table kept as select 7 as number";
    sqlx::query(create).execute(&mut connection).await.unwrap();
    server.kill9();
    assert!(sqlx::query("select 1").execute(&mut connection).await.is_err());
    server.restart().unwrap();
    let pool = &db.pool;
    let kept: i32 = sqlx::query_scalar("select number from kept").fetch_one(pool).await.unwrap();
    assert_eq!(kept, 7);
}

#[test]
fn options_reach_the_server() {
    let extra = vec![("work_mem".into(), "5MB".into())];
    let server = Server::start(ServerOptions { extra, ..ServerOptions::default() }).unwrap();
    assert!(server.version_num() >= 140_000);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let work_mem: String = runtime.block_on(async {
        let pool = sqlx::PgPool::connect(&server.url("postgres")).await.unwrap();
        sqlx::query_scalar("show work_mem").fetch_one(&pool).await.unwrap()
    });
    assert_eq!(work_mem, "5MB");
}

fn directory(server: &Server) -> PathBuf {
    let url = server.url("x");
    let host = url.split("host=").nth(1).unwrap();
    PathBuf::from(host.split('&').next().unwrap())
}
