//! A server that offers pgmq as an extension.

use std::process::Command;

use pgflow_install_tests::{Relocated, value};
use pgflow_runtime::postgres::{PgmqSource, install_pgmq};
use pgflow_test_support::{Binaries, Server, ServerOptions, TestDb, core};

/// The real pgmq as an extension's script, taken from a database that has it.
async fn script(server: &Server) -> String {
    let db = TestDb::empty_on(server).await;
    install_pgmq(&db.pool).await.unwrap();
    let program = Binaries::find(None).unwrap().program("pg_dump");
    let url = db.url();
    let what = ["--schema-only", "--schema=pgmq", "--exclude-table=pgmq.__pgmq_migrations"];
    let how = ["--no-owner", "--no-privileges", "--dbname", &url];
    let output = Command::new(program).args(what).args(how).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let is_sql = |line: &&str| !line.starts_with('\\') && !line.starts_with("CREATE SCHEMA");
    let dump = String::from_utf8(output.stdout).unwrap();
    dump.lines().filter(is_sql).collect::<Vec<_>>().join("\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_good_one_is_created_and_an_old_one_is_not() {
    let postgres = Relocated::new();
    let server = Server::start_with(postgres.binaries(), &ServerOptions::default()).unwrap();
    let script = script(&server).await;

    postgres.offer("pgmq", "1.4.0", "");
    let db = TestDb::empty_on(&server).await;
    let report = core().migrate(&db.pool).await.unwrap();
    assert_eq!(report.pgmq.source, PgmqSource::Sql, "1.4 is offered, but too old");

    postgres.offer("pgmq", "1.8.0", &script);
    let db = TestDb::empty_on(&server).await;
    let report = core().migrate(&db.pool).await.unwrap();
    assert_eq!(report.pgmq.source, PgmqSource::Extension);
    assert_eq!(report.pgmq.version.as_deref(), Some("1.8.0"));
    let extension = "select extversion from pg_extension where extname = 'pgmq'";
    assert_eq!(value(&db, extension).await, "1.8.0");
    assert!(core().migrate(&db.pool).await.unwrap().applied.is_empty());
}
