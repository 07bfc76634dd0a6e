//! A revision of `pgflow.lock` and `pgflow.schemas.json`.

use std::io;
use std::path::Path;
use std::process::{Command, Output};

use pgflow_model::{Lock, StoredSchemas};

use crate::diff::Revision;
use crate::error::Error;

const LOCK: &str = "pgflow.lock";
const SCHEMAS: &str = "pgflow.schemas.json";

/// What a git revision says, or a file, which is a lock without schemas.
pub(crate) fn read(dir: &Path, revision: &str) -> Result<Revision, Error> {
    let file = Path::new(revision);
    if file.is_file() {
        let lock = parse(&of_file(file)?, revision)?;
        return Ok(Revision { lock, schemas: StoredSchemas::default() });
    }
    let lock = parse(&of_git(dir, revision, LOCK)?, revision)?;
    // Those of a time when they were written in another way cannot be compared.
    let schemas = of_git(dir, revision, SCHEMAS)?.parse().unwrap_or_default();
    Ok(Revision { lock, schemas })
}

/// What the crate says as it is now.
pub(crate) fn current(dir: &Path) -> Result<Revision, Error> {
    let lock = parse(&of_file(&dir.join(LOCK))?, "the crate")?;
    let schemas = match of_file(&dir.join(SCHEMAS)) {
        Err(Error::Read { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            StoredSchemas::default()
        }
        text => text?.parse()?,
    };
    Ok(Revision { lock, schemas })
}

fn of_file(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(|source| Error::Read { path: path.to_owned(), source })
}

fn parse(text: &str, revision: &str) -> Result<Lock, Error> {
    text.parse().map_err(|source| Error::Lock { revision: revision.to_owned(), source })
}

/// A revision that exists and has no such file yet has nothing to say.
fn of_git(dir: &Path, revision: &str, file: &str) -> Result<String, Error> {
    let shown = git(dir, &["show", &format!("{revision}:./{file}")])?;
    if shown.status.success() {
        return Ok(String::from_utf8_lossy(&shown.stdout).into_owned());
    }
    let known = git(dir, &["rev-parse", "--verify", "--quiet", &format!("{revision}^{{commit}}")])?;
    if known.status.success() {
        return Ok(String::new());
    }
    let why = String::from_utf8_lossy(&shown.stderr).trim().to_owned();
    Err(Error::Revision { revision: revision.to_owned(), why })
}

fn git(dir: &Path, args: &[&str]) -> Result<Output, Error> {
    let mut git = Command::new("git");
    for name in pgflow_model::GIT_REPOSITORY {
        git.env_remove(name);
    }
    let output = git.current_dir(dir).args(args).output();
    output.map_err(|source| Error::Run { program: "git", source })
}
