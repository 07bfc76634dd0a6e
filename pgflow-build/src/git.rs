//! What git knows about migrations.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

/// The names of the files in a directory that the current commit has; `None` if git cannot be asked:
/// there is none, the crate is in no repository, or the repository ignores it.
pub(crate) fn committed(crate_dir: &Path, dir: &Path) -> Option<BTreeSet<String>> {
    let ignored = git(crate_dir, &["check-ignore", "--quiet", "pgflow.lock"])?;
    if ignored.status.code() != Some(1) {
        return None;
    }
    if !dir.is_dir() {
        return Some(BTreeSet::new());
    }
    let listed = git(dir, &["ls-tree", "-z", "--name-only", "HEAD", "./"])?;
    if !listed.status.success() {
        return is_without_commits(crate_dir).then(BTreeSet::new);
    }
    let names = listed.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    let base = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    Some(names.map(base).collect())
}

/// The text of `pgflow.lock` in the current commit.
pub(crate) fn committed_lock(crate_dir: &Path) -> Option<String> {
    let shown = git(crate_dir, &["show", "HEAD:./pgflow.lock"])?;
    shown.status.success().then(|| String::from_utf8_lossy(&shown.stdout).into_owned())
}

fn is_without_commits(dir: &Path) -> bool {
    let head = git(dir, &["rev-parse", "--verify", "--quiet", "HEAD"]);
    head.is_some_and(|head| head.status.code() == Some(1))
}

fn git(dir: &Path, args: &[&str]) -> Option<Output> {
    Command::new("git").arg("-C").arg(dir).args(args).output().ok()
}
