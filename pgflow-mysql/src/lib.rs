//! Runs in a MySQL or MariaDB database.
//!
//! What happens to runs is decided by `pgflow-machine`; here rows are loaded, locked and written. Any number of processes may
//! use one database: rows are locked in one order (runs by id, then tasks), claims pass over what is locked, and a transition that
//! the server undid because of another one is run again as a whole.
//!
//! ```no_run
//! use pgflow_mysql::MySql;
//! use pgflow_backend::backend::Backend;
//!
//! # async fn example() -> Result<(), pgflow_backend::backend::BackendError> {
//! let mysql = MySql::connect("mysql://app@localhost/shop").await?;
//! mysql.migrate().await?;
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod catalog;
mod check;
mod claim;
mod clock;
mod connections;
mod definitions;
mod error;
mod hints;
mod jobs;
mod json_rows;
mod list;
mod load;
mod migrate;
mod options;
mod payloads;
mod pipelines;
mod read;
mod recovery;
mod schedules;
mod session;
mod session_settings;
mod settings;
mod step;
mod store;
mod streams;
mod upkeep;
mod version;
mod waits;
mod write;

pub use error::{MySqlError, is_server_wide};
pub use jobs::submit_in;
pub use options::{Durability, MySqlOptions};
pub use pipelines::push_in;
pub use session::MySqlSession;
pub use step::{MySqlTx, start_in};
pub use store::MySql;
pub use version::Version;
pub use waits::signal_in;
