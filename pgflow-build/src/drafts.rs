//! Which migrations may still be rewritten.
//!
//! A migration is permanent once somebody else may have it: when it is committed (here, or in what is
//! being merged or picked), or when a database has it. Until then it is a draft of the next commit, and a build that finds another shape of the
//! flow writes the draft anew. Without that, an editor that builds on each save would make a version
//! of every half-finished thought.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;

use pgflow_model::{DraftsAfter, Lock, LockedVersion};

use crate::directory::{Directory, checksum, flow_of};
use crate::git::Committed;
use crate::history;
use crate::plan::Plan;
use crate::source::FoundFlow;

/// Who says which migrations are permanent.
pub(crate) struct Keeper {
    witness: Witness,
    /// Checksums of files that a database has.
    applied: BTreeSet<String>,
}

enum Witness {
    /// Git: these files are committed, and these locks.
    Git { files: BTreeSet<String>, locks: Vec<Lock> },
    /// The lock, which says after which file drafts begin and where they were written: what another
    /// directory wrote is not ours to rewrite.
    Lock { place: String },
}

impl Keeper {
    /// Who is there to say.
    pub(crate) fn of(crate_dir: &Path, migrations: &Path, applied: BTreeSet<String>) -> Self {
        let git = Committed::of(crate_dir).and_then(|committed| {
            let files = committed.files(migrations)?;
            // One that cannot be read knows nothing.
            let locks = committed.locks().iter().filter_map(|text| text.parse().ok()).collect();
            Some(Witness::Git { files, locks })
        });
        let witness = git.unwrap_or_else(|| Witness::Lock { place: place(crate_dir) });
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

    /// Whether others may have a version that `lock` knows, whatever became of its file.
    pub(crate) fn has_given_away(
        &self,
        locked: &LockedVersion,
        lock: &Lock,
        directory: &Directory,
    ) -> bool {
        let is_same = |old: &LockedVersion| old.checksum == locked.checksum;
        self.applied.contains(&locked.checksum)
            || self.has_committed(&locked.migration, lock, directory)
            || self.committed_versions().any(is_same)
    }

    fn committed_versions(&self) -> impl Iterator<Item = &LockedVersion> {
        let locks = match &self.witness {
            Witness::Git { locks, .. } => &locks[..],
            Witness::Lock { .. } => &[],
        };
        locks.iter().flat_map(|lock| &lock.versions)
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
        let mut before = history::lock(rest, lock)?;
        let is_open = |old: &&LockedVersion| {
            let mut flows = plan.flows.iter().filter(|flow| flow.shape.slug == old.shape.slug);
            !flows.any(FoundFlow::is_unchanged)
        };
        for old in self.committed_versions().filter(is_open) {
            let known = before.versions.iter_mut().find(|known| {
                (&known.shape.slug, known.version) == (&old.shape.slug, old.version)
                    // Two branches may have made the version, each in its own way.
                    && known.checksum == old.checksum
            });
            if let Some(known) = known {
                known.shape = old.shape.clone();
            }
        }
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

/// The files that may be rewritten and are not as the lock knows them: a build was stopped before it
/// could write the lock, or somebody edited them.
pub(crate) fn unrecorded(keeper: &Keeper, lock: &Lock, directory: &Directory) -> BTreeSet<String> {
    let is_kept = |file: &str| keeper.keeps(file, lock, directory) || directory.is_drop(file);
    let is_recorded = |(name, text): (&str, &str)| {
        let same =
            |known: &LockedVersion| known.migration == name && known.checksum == checksum(text);
        lock.versions.iter().any(same)
    };
    let is_left = |&(name, text): &(&str, &str)| {
        let flow = flow_of(text).unwrap_or_default();
        !is_kept(name) && !directory.after(name, flow).any(is_kept) && !is_recorded((name, text))
    };
    directory.ours().filter(is_left).map(|(name, _)| name.to_owned()).collect()
}

/// Where the drafts of a crate are written: its directory, so that a copy elsewhere is none of them.
fn place(crate_dir: &Path) -> String {
    let mut hasher = DefaultHasher::new();
    crate_dir.canonicalize().unwrap_or_else(|_| crate_dir.to_owned()).hash(&mut hasher);
    format!("{:08x}", hasher.finish() & 0xffff_ffff)
}
