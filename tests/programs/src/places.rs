//! Where programs are.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The first directory that has them all.
pub(crate) fn directory_with(programs: &[&str]) -> Option<PathBuf> {
    let is_complete = |dir: &PathBuf| programs.iter().all(|name| dir.join(name).is_file());
    pg_config().into_iter().chain(path()).chain(system()).chain(debian()).find(is_complete)
}

/// The most explicit about a Postgres, where there is one.
fn pg_config() -> Option<PathBuf> {
    let output = Command::new("pg_config").arg("--bindir").output().ok()?;
    let dir = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| PathBuf::from(dir.trim()))
}

fn path() -> Vec<PathBuf> {
    std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default()
}

/// Servers are often where only root's PATH leads.
fn system() -> [PathBuf; 3] {
    ["/usr/sbin", "/usr/local/sbin", "/usr/bin"].map(PathBuf::from)
}

/// Debian keeps every major version of Postgres in a directory of its own; the newest first.
fn debian() -> Vec<PathBuf> {
    let mut versions: Vec<(u32, PathBuf)> = Path::new("/usr/lib/postgresql")
        .read_dir()
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path())))
        .collect();
    versions.sort_by_key(|(major, _)| std::cmp::Reverse(*major));
    versions.into_iter().map(|(_, path)| path.join("bin")).collect()
}
