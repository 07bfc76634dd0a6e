//! The last resort on Debian and its kin: install the server.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::process::is_root;

/// Whether it was installed now; says on screen that it tries.
pub(crate) fn install() -> bool {
    if !is_root() || !Path::new("/etc/debian_version").exists() {
        return false;
    }
    eprintln!("no Postgres on this machine: running `apt-get install -y postgresql`");
    apt_get(&["install", "-y", "postgresql"])
        || (apt_get(&["update"]) && apt_get(&["install", "-y", "postgresql"]))
}

fn apt_get(args: &[&str]) -> bool {
    Command::new("apt-get")
        .args(args)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
