//! Installing on Debian and its kin.

use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use crate::error::{Error, Result};
use crate::process::run;

/// How long others may keep apt and dpkg busy.
const PATIENCE: Duration = Duration::from_mins(10);

/// Lists of packages that are older name versions that the archive no longer has.
const FRESH: Duration = Duration::from_hours(24);

const LISTS: &str = "/var/lib/apt/lists";

/// Installs without starting what it installs: `policy-rc.d` is how Debian is told. One that the machine
/// has stays; one that a killed run of ours left goes.
const INSTALL: &str = r#"
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ] || grep -q pgflow-provision "$policy"; then
  trap 'rm -f "$policy"' EXIT
  trap 'exit 130' INT TERM HUP
  printf '#!/bin/sh\n# By pgflow-provision, while it installs.\nexit 101\n' >"$policy"
  chmod 755 "$policy"
fi
apt-get "$@"
"#;

/// Whether this is Debian, or close enough.
pub(crate) fn is_debian() -> bool {
    Path::new("/etc/debian_version").exists()
}

/// All of them in one call.
pub(crate) fn install(packages: &[&str]) -> Result<()> {
    if !has_fresh_lists() {
        update()?;
    }
    // Young lists may be wrong all the same.
    try_to_install(packages).or_else(|_| update().and_then(|()| try_to_install(packages)))
}

/// What a person would type.
pub(crate) fn command(packages: &[&str]) -> String {
    format!("apt-get install -y --no-install-recommends {}", packages.join(" "))
}

fn try_to_install(packages: &[&str]) -> Result<()> {
    println!("    {}", command(packages));
    let mut install = Command::new("sh");
    install.args(["-c", INSTALL, "pgflow-provision"]);
    patiently(
        install.args(options()).args(["install", "-y", "--no-install-recommends"]).args(packages),
    )
}

fn update() -> Result<()> {
    println!("    apt-get update");
    patiently(Command::new("apt-get").args(options()).arg("update"))
}

/// Newer versions of apt wait for dpkg's lock by themselves.
fn options() -> [String; 2] {
    ["-o".into(), format!("DPkg::Lock::Timeout={}", PATIENCE.as_secs())]
}

/// Waits for whoever has one of apt's other locks.
fn patiently(command: &mut Command) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    command.env("DEBIAN_FRONTEND", "noninteractive").env("LC_ALL", "C");
    loop {
        match run(command) {
            Err(Error::Program { output, .. })
                if is_locked(&output) && Instant::now() < deadline =>
            {
                sleep(Duration::from_secs(1));
            }
            done => return done.map(drop),
        }
    }
}

fn is_locked(output: &str) -> bool {
    output.contains("Could not get lock")
}

fn has_fresh_lists() -> bool {
    let lists = Path::new(LISTS).read_dir().into_iter().flatten().flatten();
    let is_fresh = |written: SystemTime| written.elapsed().is_ok_and(|age| age < FRESH);
    lists
        .filter(|entry| entry.file_name().to_string_lossy().contains("_Packages"))
        .filter_map(|entry| entry.metadata().ok()?.modified().ok())
        .any(is_fresh)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_has_a_lock_is_waited_for() {
        let dir = std::env::temp_dir().join(format!("pgflow-apt-test-{}", std::process::id()));
        let busy_once = "mkdir \"$0\" || exit 0; echo 'E: Could not get lock /l. It is held by 7' >&2; exit 100";
        let mut command = Command::new("sh");
        let done = patiently(command.args(["-c", busy_once]).arg(&dir));
        let _ = std::fs::remove_dir(&dir);
        done.unwrap();
    }

    #[test]
    fn what_apt_says_is_shown_when_it_fails() {
        let broken =
            patiently(Command::new("sh").args(["-c", "echo 'E: no such package'; exit 100"]));
        assert!(broken.unwrap_err().to_string().contains("E: no such package"));
    }
}
