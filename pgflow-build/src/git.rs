//! What git knows about migrations.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What is committed: in the current commit, and in those that are being merged or picked into it, which
/// others have although no commit of this branch has them yet.
pub(crate) struct Committed {
    crate_dir: PathBuf,
    commits: Vec<String>,
}

impl Committed {
    /// `None` if git cannot be asked: there is none, the crate is in no repository, or the repository
    /// ignores it.
    pub(crate) fn of(crate_dir: &Path) -> Option<Self> {
        let ignored = git(crate_dir, &["check-ignore", "--quiet", "pgflow.lock"])?;
        if ignored.status.code() != Some(1) {
            return None;
        }
        let mut commits = Vec::new();
        if exists(crate_dir, "HEAD")? {
            commits.push("HEAD".to_owned());
        }
        commits.extend(merged(crate_dir));
        if exists(crate_dir, "CHERRY_PICK_HEAD")? {
            commits.push("CHERRY_PICK_HEAD".to_owned());
        }
        Some(Self { crate_dir: crate_dir.to_owned(), commits })
    }

    /// The names of the files in a directory; `None` if git cannot say.
    pub(crate) fn files(&self, dir: &Path) -> Option<BTreeSet<String>> {
        let mut names = BTreeSet::new();
        if !dir.is_dir() {
            return Some(names);
        }
        for commit in &self.commits {
            let listed = git(dir, &["ls-tree", "-z", "--name-only", commit, "./"])?;
            if !listed.status.success() {
                return None;
            }
            let found = listed.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
            names.extend(found.map(|name| String::from_utf8_lossy(name).into_owned()));
        }
        Some(names)
    }

    /// The texts of `pgflow.lock`.
    pub(crate) fn locks(&self) -> Vec<String> {
        let shown = |commit: &String| {
            let shown = git(&self.crate_dir, &["show", &format!("{commit}:./pgflow.lock")])?;
            shown.status.success().then(|| String::from_utf8_lossy(&shown.stdout).into_owned())
        };
        self.commits.iter().filter_map(shown).collect()
    }
}

/// The commits that a merge brings: a line each, which no name of git stands for.
fn merged(dir: &Path) -> Vec<String> {
    let found = git(dir, &["rev-parse", "--git-path", "MERGE_HEAD"]);
    let Some(found) = found.filter(|found| found.status.success()) else { return Vec::new() };
    let path = String::from_utf8_lossy(&found.stdout);
    let text = fs::read_to_string(dir.join(path.trim_end())).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Whether there is a commit of this name; `None` if git cannot say.
fn exists(dir: &Path, name: &str) -> Option<bool> {
    let found = git(dir, &["rev-parse", "--verify", "--quiet", name])?;
    match found.status.code() {
        Some(0) => Some(true),
        Some(1) => Some(false),
        _ => None,
    }
}

fn git(dir: &Path, args: &[&str]) -> Option<Output> {
    let mut git = Command::new("git");
    for name in pgflow_model::GIT_REPOSITORY {
        git.env_remove(name);
    }
    git.arg("-C").arg(dir).args(args).output().ok()
}
