//! The database that all others are copied from.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use pgflow_runtime::postgres::Core;
use sqlx::postgres::{PgConnection, PgPoolOptions};
use sqlx::{AssertSqlSafe, Connection};

use crate::server::Server;

/// Leftovers on a server that is not ours are dropped after this many hours.
const STALE_AFTER: u64 = 6;

/// Built once per server, by the library's own `migrate`.
pub(crate) async fn of(server: &Server) -> &str {
    server
        .template
        .get_or_init(|| async {
            if server.is_external() {
                drop_stale(server).await;
            }
            let name = new_name();
            create_database(server, &name, "template0").await;
            install_core(&server.url(&name)).await;
            name
        })
        .await
}

/// The SQL under test: what the library embeds, or what `PGFLOW_TEST_CORE_DIR` holds.
///
/// # Panics
/// When that directory cannot be read.
pub fn core() -> Core {
    std::env::var_os("PGFLOW_TEST_CORE_DIR").map(PathBuf::from).map_or_else(Core::embedded, |dir| {
        Core::from_dir(&dir).unwrap_or_else(|error| panic!("PGFLOW_TEST_CORE_DIR: {error}"))
    })
}

/// The pool is closed at the end: nobody may be connected to a template.
async fn install_core(url: &str) {
    let pool = PgPoolOptions::new().max_connections(2).connect(url).await;
    let pool = pool.expect("cannot connect to the template");
    core().migrate(&pool).await.unwrap_or_else(|error| {
        let cause = std::error::Error::source(&error).map(ToString::to_string);
        panic!("cannot install the core: {error}: {}", cause.unwrap_or_default())
    });
    pool.close().await;
}

/// Unique on the server, and says when it was made.
pub(crate) fn new_name() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("pgflow_test_{}_{}_{number}", hours(), std::process::id())
}

fn hours() -> u64 {
    UNIX_EPOCH.elapsed().unwrap_or(Duration::ZERO).as_secs() / 3600
}

pub(crate) async fn create_database(server: &Server, name: &str, template: &str) {
    let mut admin = admin(server).await;
    let strategy = strategy(server);
    execute(&mut admin, format!("create database {name} template {template}{strategy}")).await;
    admin.close().await.expect("cannot close a connection");
}

/// As files, where that costs nothing but their copies: each one begins and ends with a checkpoint, which waits for the disk
/// unless the server forgets. Older servers know no other way.
fn strategy(server: &Server) -> &'static str {
    let may_choose = server.version_num() >= 150_000;
    if may_choose && server.is_forgetful() { " strategy file_copy" } else { "" }
}

async fn drop_stale(server: &Server) {
    let mut admin = admin(server).await;
    let names: Vec<String> = sqlx::query_scalar(
        "select datname from pg_database where datname like 'pgflow\\_test\\_%'",
    )
    .fetch_all(&mut admin)
    .await
    .expect("cannot list databases");
    for name in names.iter().filter(|name| is_stale(name)) {
        execute(&mut admin, format!("drop database if exists {name} with (force)")).await;
    }
}

fn is_stale(name: &str) -> bool {
    let made = name.split('_').nth(2).and_then(|hour| hour.parse::<u64>().ok());
    made.is_some_and(|hour| hour + STALE_AFTER < hours())
}

async fn admin(server: &Server) -> PgConnection {
    let url = server.url("postgres");
    PgConnection::connect(&url).await.expect("cannot connect to the server")
}

async fn execute(connection: &mut PgConnection, sql: String) {
    sqlx::raw_sql(AssertSqlSafe(sql.clone()))
        .execute(connection)
        .await
        .unwrap_or_else(|error| panic!("{sql}: {error}"));
}
