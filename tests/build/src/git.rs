//! Git, for a crate of a test's own.

use std::path::Path;
use std::process::Command;

/// Runs git in a directory, as somebody who may commit.
///
/// # Panics
///
/// If git fails: a test should then fail too.
pub fn git(dir: &Path, args: &[&str]) {
    let identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
    let output = Command::new("git").current_dir(dir).args(identity).args(args).output();
    let output = output.expect("git runs");
    assert!(output.status.success(), "git {args:?}: {output:?}");
}

/// Commits everything in a directory.
///
/// # Panics
///
/// As [`git`] does.
pub fn commit(dir: &Path) {
    git(dir, &["add", "-A"]);
    git(dir, &["commit", "-qm", "."]);
}
