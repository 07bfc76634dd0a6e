//! Which migrations may still be rewritten.
//!
//! A migration is permanent once somebody else may have it: when it is committed, or when a database
//! has it. Until then it is a draft of the next commit, and a build that finds another shape of the
//! flow writes the draft anew. Without that, an editor that builds on each save would make a version
//! of every half-finished thought.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;

use pgflow_model::{DraftsAfter, Lock, LockedVersion};

use crate::directory::{Directory, checksum};
use crate::plan::Plan;
use crate::source::FoundFlow;
use crate::{git, history};

/// Who says which migrations are permanent.
pub(crate) struct Keeper {
    witness: Witness,
    /// Checksums of files that a database has.
    applied: BTreeSet<String>,
}

enum Witness {
    /// Git: these files are in the current commit, and this lock.
    Git { files: BTreeSet<String>, lock: Lock },
    /// The lock, which says after which file drafts begin and where they were written: what another
    /// directory wrote is not ours to rewrite.
    Lock { place: String },
}

impl Keeper {
    /// Who is there to say.
    pub(crate) fn of(crate_dir: &Path, migrations: &Path, applied: BTreeSet<String>) -> Self {
        let witness = match git::committed(crate_dir, migrations) {
            Some(files) => Witness::Git { files, lock: committed_lock(crate_dir) },
            None => Witness::Lock { place: place(crate_dir) },
        };
        Self { witness, applied }
    }

    /// Whether a file stays as it is.
    pub(crate) fn keeps(&self, file: &str, lock: &Lock, directory: &Directory) -> bool {
        self.has_committed(file, lock, directory)
            || directory.get(file).is_none_or(|text| self.applied.contains(&checksum(text)))
    }

    /// Whether others may have a file.
    pub(crate) fn has_committed(&self, file: &str, lock: &Lock, directory: &Directory) -> bool {
        match (&self.witness, &lock.drafts) {
            (Witness::Git { files, .. }, _) => files.contains(file),
            (Witness::Lock { place }, Some(drafts)) if drafts.place == *place => {
                let number = |name: &str| directory.style().number(name);
                number(file) <= drafts.after.as_deref().and_then(number)
            }
            (Witness::Lock { .. }, _) => true,
        }
    }

    /// What the lock has to say so that this is known later: drafts begin after the last file that was
    /// committed before, if the directory has any now.
    pub(crate) fn stamp(
        &self,
        lock: &Lock,
        before: &Directory,
        now: &Directory,
    ) -> Option<DraftsAfter> {
        let Witness::Lock { place } = &self.witness else { return None };
        let after = before.last(|file| self.has_committed(file, lock, before));
        let stamp = DraftsAfter { place: place.clone(), after };
        now.is_any_after(stamp.after.as_deref()).then_some(stamp)
    }

    /// Whether git says what is permanent.
    pub(crate) fn is_git(&self) -> bool {
        matches!(self.witness, Witness::Git { .. })
    }

    /// The lock before the drafts: that of these files, and what only the source knows (types, former
    /// names) as it was committed, or as it is known.
    pub(crate) fn before(
        &self,
        lock: &Lock,
        rest: &Directory,
        plan: &Plan,
    ) -> Result<Lock, String> {
        let mut later = lock.clone();
        if let Witness::Git { lock: committed, .. } = &self.witness {
            let is_open = |old: &&LockedVersion| {
                let mut flows = plan.flows.iter().filter(|flow| flow.shape.slug == old.shape.slug);
                !flows.any(FoundFlow::is_unchanged)
            };
            committed.versions.iter().filter(is_open).for_each(|old| later.set(old.clone()));
        }
        let mut before = history::lock(rest, &later)?;
        before.versions.retain(|old| lock.get(&old.shape.slug, old.version).is_some());
        Ok(before)
    }
}

/// The files to be written anew: nobody keeps them, nothing permanent about their flow comes after,
/// their flow is not as they make it, and no module of the source asks for their version by its number.
pub(crate) fn find(
    keeper: &Keeper,
    lock: &Lock,
    directory: &Directory,
    plan: &Plan,
) -> BTreeSet<String> {
    let is_kept = |file: &str| keeper.keeps(file, lock, directory) || directory.is_drop(file);
    let is_wanted = |locked: &LockedVersion| {
        let mut flows = plan.flows.iter().filter(|flow| flow.shape.slug == locked.shape.slug);
        flows.any(|flow| flow.version == Some(locked.version) || flow.is_unchanged())
    };
    let is_draft = |locked: &&LockedVersion| {
        let (file, flow) = (&locked.migration, &locked.shape.slug);
        !is_kept(file) && !directory.after(file, flow).any(is_kept) && !is_wanted(locked)
    };
    lock.versions.iter().filter(is_draft).map(|locked| locked.migration.clone()).collect()
}

/// One that cannot be read knows nothing.
fn committed_lock(crate_dir: &Path) -> Lock {
    git::committed_lock(crate_dir).and_then(|text| text.parse().ok()).unwrap_or_default()
}

/// Where the drafts of a crate are written: its directory, so that a copy elsewhere is none of them.
fn place(crate_dir: &Path) -> String {
    let mut hasher = DefaultHasher::new();
    crate_dir.canonicalize().unwrap_or_else(|_| crate_dir.to_owned()).hash(&mut hasher);
    format!("{:08x}", hasher.finish() & 0xffff_ffff)
}
