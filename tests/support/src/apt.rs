//! The last resort on Debian and its kin: install what is missing.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::process::is_root;

/// Whether this is Debian, or close enough.
pub(crate) fn is_debian() -> bool {
    Path::new("/etc/debian_version").exists()
}

/// Whether a package was installed now; says on screen that it tries.
pub(crate) fn install(package: &str) -> bool {
    if !is_root() || !is_debian() {
        return false;
    }
    eprintln!("no {package} on this machine: running `apt-get install -y {package}`");
    let install = ["install", "-y", package];
    apt_get(&install) || (apt_get(&["update"]) && apt_get(&install))
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
