//! Taking back the newest migration, or keeping it.

use std::path::PathBuf;

use crate::directory::{Directory, flow_of};
use crate::error::Error;
use crate::settings::Migrations;
use crate::{history, write};

/// A migration that was taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undone {
    /// The file, which is gone.
    pub file: PathBuf,
    /// What it created, for a database that has it all the same.
    pub created: Vec<String>,
}

impl Migrations {
    /// Removes the newest migration of a flow, and lets `pgflow.lock` say what it said before, also if
    /// a database of yours has it. One that is committed stays.
    ///
    /// The next build writes it again if the source still asks for it.
    pub fn undo(&self) -> Result<Undone, Error> {
        let _alone = write::alone(&self.dir);
        let (lock, keeper) = (self.read_lock()?, self.keeper());
        let directory = Directory::read(&self.migrations_dir(), self.style)?;
        let flow = |file: &str| directory.get(file).and_then(flow_of);
        let is_ours = |file: &str| flow(file).is_some_and(|flow| lock.knows(flow));
        let name = directory.last(is_ours).ok_or(Error::NothingToUndo)?;
        if keeper.has_committed(&name, &lock, &directory) {
            return Err(permanent(name, keeper.is_git()));
        }
        let rest = directory.without(&[name.clone()].into());
        let mut before = history::lock(&rest, &lock).map_err(Error::History)?;
        let made = |directory| history::replay(directory).map_err(Error::History);
        let (all, old) = (made(&directory)?, made(&rest)?);
        let created = all.into_keys().filter(|slug| !old.contains_key(slug)).collect();
        before.drafts = keeper.stamp(&lock, &directory, &rest);
        let file = directory.file(&name);
        write::remove(&file)?;
        self.write_lock(&before, false)?;
        Ok(Undone { file, created })
    }

    /// Makes all migrations permanent, for a crate that is in no git repository: from now on a change
    /// of a flow is a new migration. Returns whether there was anything to keep.
    ///
    /// With git, a commit does that.
    pub fn keep(&self) -> Result<bool, Error> {
        let _alone = write::alone(&self.dir);
        let mut lock = self.read_lock()?;
        let was_draft = lock.drafts.take().is_some();
        self.write_lock(&lock, !was_draft)?;
        Ok(was_draft)
    }
}

fn permanent(name: String, is_git: bool) -> Error {
    let (why, help) = if is_git {
        ("committed", "undo it with git, or change the source: that writes another migration")
    } else {
        ("permanent", "change the source: that writes another migration")
    };
    Error::Permanent { name, why, help }
}
