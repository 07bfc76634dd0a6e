//! How cargo is called.

use std::env;
use std::process::Command;

/// The cargo that runs this. Where everything is compiled once and never again, as in CI, nothing is noted for the
/// next time: that would cost a tenth of the time and a third of the disk.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    if env::var_os("CI").is_some() {
        command.env("CARGO_INCREMENTAL", "0");
    }
    command
}
