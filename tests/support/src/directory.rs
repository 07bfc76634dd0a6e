//! Where a server's files are while it runs.

use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};

use pgflow_test_programs::{Doing, Result, is_root, run};

use crate::process::UNPRIVILEGED;

/// In memory if there is plenty, on disk if the data has to survive a crash.
pub(crate) fn new_directory(durable: bool) -> Result<PathBuf> {
    let memory = Path::new("/dev/shm");
    let parent = if !durable && has_room(memory) { memory.into() } else { std::env::temp_dir() };
    let nanos = std::time::UNIX_EPOCH.elapsed().map_or(0, |age| age.subsec_nanos());
    let dir = parent.join(format!("pgflow-test-{}-{nanos:09}", std::process::id()));
    std::fs::create_dir(&dir).doing(format!("create {}", dir.display()))?;
    give_away(&dir)?;
    Ok(dir)
}

/// To the user whom servers run as.
pub(crate) fn give_away(path: &Path) -> Result<()> {
    if !is_root() {
        return Ok(());
    }
    chown(path, Some(UNPRIVILEGED), Some(UNPRIVILEGED))
        .doing(format!("give {} to an unprivileged user", path.display()))
}

/// Six gigabytes: a test costs about ten megabytes, and containers often have only 64 there.
fn has_room(dir: &Path) -> bool {
    let available = run(std::process::Command::new("df").arg("-Pk").arg(dir))
        .ok()
        .and_then(|table| table.lines().nth(1)?.split_whitespace().nth(3)?.parse::<u64>().ok());
    available.is_some_and(|kilobytes| kilobytes >= 6 << 20)
}
