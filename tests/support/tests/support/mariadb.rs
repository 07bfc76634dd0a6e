//! A MariaDB that ends when it should.

use std::path::{Path, PathBuf};

use pgflow_test_support::{MariaDb, MariaDbDatabase, MariaDbOptions};

use crate::victim::{
    Victim, ends_with_its_value, kill_while_it_runs, kill_while_it_starts, stay_if_victim,
};

fn start() -> MariaDb {
    MariaDb::start(&MariaDbOptions::default()).unwrap()
}

/// The one that all settings name.
fn directory(server: &MariaDb) -> PathBuf {
    let data = server.sql("select @@datadir").unwrap();
    Path::new(data.trim()).parent().unwrap().to_owned()
}

#[test]
fn a_killed_test_process_leaves_none_behind() {
    let mut server = None;
    stay_if_victim(|| directory(server.insert(start())));
    kill_while_it_runs("mariadb::a_killed_test_process_leaves_none_behind");
}

#[test]
fn a_test_process_killed_while_it_starts_one_leaves_none_behind() {
    let mut server = None;
    stay_if_victim(|| directory(server.insert(start())));
    kill_while_it_starts("mariadb::a_test_process_killed_while_it_starts_one_leaves_none_behind");
}

#[test]
fn two_processes_have_one_each() {
    let server = start();
    let mut other = None;
    stay_if_victim(|| directory(other.insert(start())));
    let mut victim = Victim::start("mariadb::two_processes_have_one_each");
    assert_ne!(victim.directory(), directory(&server));
    victim.kill();
    assert_eq!(server.sql("select 7").unwrap(), "7\n");
}

#[test]
fn a_server_ends_with_its_value() {
    let server = start();
    let dir = directory(&server);
    ends_with_its_value(server, &dir);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_test_has_a_database_of_its_own() {
    let (one, other) = (MariaDbDatabase::new().await, MariaDbDatabase::new().await);
    let server = MariaDb::shared().await;
    server.sql(&format!("create table {}.mine (number int)", one.name())).unwrap();
    let tables = "select count(*) from information_schema.tables where table_name = 'mine'";
    let count = |db: &MariaDbDatabase| {
        server.sql(&format!("{tables} and table_schema = '{}'", db.name())).unwrap()
    };
    assert_eq!((count(&one), count(&other)), ("1\n".to_owned(), "0\n".to_owned()));
    assert_eq!(one.url(), format!("mysql://root@127.0.0.1:{}/{}", server.port(), one.name()));
}

#[test]
fn a_durable_server_keeps_what_was_committed() {
    let mut server = MariaDb::start(&MariaDbOptions { fsync: true, ..Default::default() }).unwrap();
    let db = MariaDbDatabase::new_on(&server);
    server.sql(&format!("create table {}.kept select 7 as number", db.name())).unwrap();
    let read = format!("select number from {}.kept", db.name());
    server.kill9();
    assert!(server.sql(&read).is_err());
    server.restart().unwrap();
    assert_eq!(server.sql(&read).unwrap(), "7\n");
    server.restart().unwrap();
    assert_eq!(server.sql(&read).unwrap(), "7\n");
}

#[test]
fn settings_reach_the_server_and_wrong_ones_are_shown() {
    let start = |name: &str| {
        let extra = vec![(name.into(), "77".into())];
        MariaDb::start(&MariaDbOptions { extra, ..Default::default() })
    };
    assert_eq!(start("max-connections").unwrap().sql("select @@max_connections").unwrap(), "77\n");
    let error = start("no-such-setting").unwrap_err().to_string();
    assert!(error.contains("no-such-setting"), "{error}");
}
