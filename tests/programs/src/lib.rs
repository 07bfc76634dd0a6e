//! The programs that tests need: the [list](NEEDS), where they are, and how they get there.
//!
//! Tests only [find](Need::directories); `cargo xtask provision`, which is the first stage of
//! `cargo xtask test`, [installs](provision()) what is missing.
//!
//! ```
//! use pgflow_test_programs::POSTGRES;
//!
//! match POSTGRES.directories() {
//!     Ok(found) => println!("initdb is in {}", found[0].display()),
//!     Err(error) => assert!(error.to_string().contains("cargo xtask provision")),
//! }
//! ```

mod apt;
mod error;
mod need;
mod npm;
mod places;
mod process;
mod provision;
mod rust_analyzer;
mod watchdog;

pub use error::{Doing, Error, Result};
pub use need::{CHROMEDRIVER, CHROMIUM, GIT, MARIADB, NEEDS, Need, PGBOUNCER, POSTGRES, TMUX};
pub use npm::{find as find_postgres, major_of_environment};
pub use process::{is_root, run};
pub use provision::provision;
pub use rust_analyzer::find as find_rust_analyzer;
pub use watchdog::Watchdog;
