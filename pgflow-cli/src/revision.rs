//! A revision of `pgflow.lock`.

use std::path::Path;
use std::process::Command;

use pgflow_model::Lock;

use crate::error::Error;

/// The lock of a git revision, or a file.
pub(crate) fn read(dir: &Path, revision: &str) -> Result<Lock, Error> {
    let file = Path::new(revision);
    let text = if file.is_file() {
        std::fs::read_to_string(file)
            .map_err(|source| Error::Read { path: file.to_owned(), source })?
    } else {
        of_git(dir, revision)?
    };
    parse(&text, revision)
}

/// The lock of the crate as it is now.
pub(crate) fn current(dir: &Path) -> Result<Lock, Error> {
    let path = dir.join("pgflow.lock");
    let text = std::fs::read_to_string(&path).map_err(|source| Error::Read { path, source })?;
    parse(&text, "the crate")
}

fn parse(text: &str, revision: &str) -> Result<Lock, Error> {
    text.parse().map_err(|source| Error::Lock { revision: revision.to_owned(), source })
}

/// A revision that exists and has no such file yet has no flows.
fn of_git(dir: &Path, revision: &str) -> Result<String, Error> {
    let git = |args: &[&str]| {
        let output = Command::new("git").current_dir(dir).args(args).output();
        output.map_err(|source| Error::Run { program: "git", source })
    };
    let shown = git(&["show", &format!("{revision}:./pgflow.lock")])?;
    if shown.status.success() {
        return Ok(String::from_utf8_lossy(&shown.stdout).into_owned());
    }
    let known = git(&["rev-parse", "--verify", "--quiet", &format!("{revision}^{{commit}}")])?;
    if known.status.success() {
        return Ok(String::new());
    }
    let why = String::from_utf8_lossy(&shown.stderr).trim().to_owned();
    Err(Error::Revision { revision: revision.to_owned(), why })
}
