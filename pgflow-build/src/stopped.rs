//! Going on where a build was stopped: it writes migrations first, removes drafts that they replace, and
//! writes the lock last, so a build that was killed leaves files that the lock does not know.

use std::collections::BTreeSet;

use pgflow_model::{Lock, LockedVersion};

use crate::directory::{Directory, checksum};
use crate::error::Error;
use crate::plan::Plan;
use crate::settings::Migrations;
use crate::{drafts, verify};

/// Whether files and lock disagree because a build was stopped.
pub(crate) enum Stopped {
    /// No: what is wrong is something else.
    Nowhere,
    /// Yes, and this is how it goes on: what it wrote is what the source asks for.
    Here(Box<Plan>),
    /// Perhaps, but the source asks for something else now. What to say about each file.
    Unclear(Vec<String>),
}

impl Migrations {
    /// Judges drafts only: what others may have is never written anew.
    pub(crate) fn plan_stopped(
        &self,
        plan: &Plan,
        lock: &Lock,
        directory: &Directory,
    ) -> Result<Stopped, Error> {
        let keeper = self.keeper();
        let is_lost = |locked: &&LockedVersion| {
            directory.get(&locked.migration).is_none_or(|text| checksum(text) != locked.checksum)
        };
        let mut lost = lock.versions.iter().filter(is_lost);
        let is_elsewhere = lock.migrations.as_ref().is_some_and(|known| *known != self.settings());
        if is_elsewhere || lost.any(|locked| keeper.has_given_away(locked, lock, directory)) {
            return Ok(Stopped::Nowhere);
        }
        let left = drafts::unrecorded(&keeper, lock, directory);
        let drafts: BTreeSet<_> =
            drafts::find(&keeper, lock, directory, plan).union(&left).cloned().collect();
        let rest = directory.without(&drafts);
        let before = keeper.before(lock, &rest, plan);
        let Some(before) = before.ok().filter(|lock| verify::problems(lock, &rest, "").is_empty())
        else {
            return Ok(Stopped::Nowhere);
        };
        let mut resumed = Plan::new(self.read(&before)?, before, rest);
        let is_other = |file: &&String| resumed.directory.get(file) != directory.get(file);
        let others: Vec<_> = left.iter().filter(is_other).map(|file| unclear(file)).collect();
        if !others.is_empty() {
            return Ok(Stopped::Unclear(others));
        }
        resumed.lock.drafts = keeper.stamp(lock, directory, &resumed.directory);
        Ok(Stopped::Here(Box::new(resumed)))
    }
}

fn unclear(file: &str) -> String {
    format!(
        "migration `{file}` is not one that `pgflow.lock` knows: a build was stopped while it wrote, or the file was edited\nhelp: it is not committed, and no database is known to have it: remove it, and build"
    )
}
