//! What has to be written, and what is in the way.

use std::collections::BTreeSet;
use std::path::PathBuf;

use pgflow_model::{FlowShape, Impact, Lock, LockedVersion, changes, is_version_slug};

use crate::directory::{Directory, NewFile, checksum, is_drop};
use crate::error::Error;
use crate::location::SourceLocation;
use crate::migration::{self, Migration};
use crate::problem::Problem;
use crate::source::{Comparison, Found, FoundFlow};
use crate::style::Style;

/// What has to be written so that the migrations make the flows that the source has.
#[derive(Debug)]
pub struct Plan {
    /// The flows of the source.
    pub flows: Vec<FoundFlow>,
    /// Migrations that are missing: name and contents.
    pub files: Vec<(String, String)>,
    /// Drafts of migrations that are no longer wanted.
    pub superseded: Vec<String>,
    /// Flows whose migration is a draft that was written before they changed.
    pub outdated: BTreeSet<String>,
    /// What the lock file has to say then.
    pub lock: Lock,
    /// Whether it says so already.
    pub is_locked: bool,
    /// What a user has to put right; nothing is written before.
    pub problems: Vec<Problem>,
    /// Places that could hold flows and that were not understood, and why.
    pub unseen: Vec<(SourceLocation, String)>,
    /// Flows that are in the lock but not in the source, and not retired. They stay in the database.
    pub gone: Vec<String>,
    /// What the lock says of files that have another name or place now.
    pub relocated: Vec<String>,
    /// What to say if a file of the SQL core comes after a flow that needs it.
    pub late_core: Option<String>,
    /// Source files that were read, and such that modules name but that are not there.
    pub sources: BTreeSet<PathBuf>,
    pub(crate) directory: Directory,
    pub(crate) style: Style,
    /// What is to be written, before it has a number.
    pending: Vec<Pending>,
}

/// A migration of a version.
#[derive(Debug)]
struct Pending {
    version: u32,
    shape: FlowShape,
    migration: Migration,
}

impl Plan {
    /// For these flows, which were compared with this lock. It is that of the files in the directory.
    pub(crate) fn new(found: Found, lock: Lock, directory: Directory) -> Self {
        let style = directory.style();
        let mut plan = Self {
            late_core: late_core(&directory),
            flows: Vec::new(),
            files: Vec::new(),
            superseded: Vec::new(),
            outdated: directory.drafted(),
            lock,
            is_locked: false,
            problems: found.problems,
            unseen: found.unseen,
            gone: Vec::new(),
            relocated: Vec::new(),
            sources: found.files.into_iter().chain(found.missing).collect(),
            directory,
            style,
            pending: Vec::new(),
        };
        for flow in &found.flows {
            if plan.is_first(flow) {
                plan.add(flow);
                plan.flows.push(flow.clone());
            }
        }
        plan.lock.dropped = plan.directory.drops();
        plan.write_pending();
        plan.find_gone();
        plan
    }

    /// Whether migrations and lock make what the source has.
    pub fn is_up_to_date(&self) -> bool {
        self.is_written() && self.is_locked
    }

    /// Whether the directory has the files that it should have.
    pub(crate) fn is_written(&self) -> bool {
        self.files.is_empty() && self.superseded.is_empty()
    }

    /// Whether nothing can be said about it that the lock, which it was made with, does not say.
    pub(crate) fn is_settled(&self, lock: &Lock) -> bool {
        self.is_written() && self.lock == *lock && self.problems.is_empty() && self.gone.is_empty()
    }

    /// Nothing is concluded from a source with these problems.
    pub(crate) fn refuse(&mut self, problems: Vec<Problem>) {
        for problem in problems {
            if !self.problems.iter().any(|known| known.place == problem.place) {
                self.problems.push(problem);
            }
        }
        self.find_gone();
    }

    /// Refuses files about flows that neither source nor lock knows: those of another crate, or a draft
    /// that was left behind when the source went back. A program would apply them all the same.
    pub(crate) fn refuse_foreign(&mut self) {
        if self.problems.iter().any(|problem| problem.is_reported_by_compiler) {
            return; // They may hide the flow.
        }
        let is_known = |flow: &str| {
            self.flows.iter().any(|found| found.shape.slug == flow) || self.lock.knows(flow)
        };
        let foreign = self.directory.flows().into_iter().filter(|(flow, _)| !is_known(flow));
        let told = foreign.map(|(flow, file)| {
            Problem::new(None, format!(
                "migration `{file}` is about flow `{flow}`, which neither the source nor `pgflow.lock` knows\nhelp: if it is another crate's, give each crate a directory of its own; otherwise restore `pgflow.lock`, or delete the file if no database has it"
            ))
        });
        let told: Vec<_> = told.collect();
        self.problems.extend(told);
    }

    /// Two modules may be the same flow, as long as they are: one may be there on another platform.
    fn is_first(&mut self, flow: &FoundFlow) -> bool {
        let is_same = |other: &&FoundFlow| {
            other.shape.slug == flow.shape.slug && other.version == flow.version
        };
        let Some(other) = self.flows.iter().find(is_same) else { return true };
        if other.shape != flow.shape {
            let text = format!(
                "flow `{}` is there twice, and differently: also at {}\nhelp: give one of them another `slug = \"…\"`",
                flow.shape.slug, other.place
            );
            self.problems.push(Problem::new(Some(flow.place.clone()), text));
        }
        false
    }

    fn add(&mut self, flow: &FoundFlow) {
        let (shape, slug) = (&flow.shape, &flow.shape.slug);
        let written = self.migration_of(flow);
        let text = written.as_ref().map(|(_, migration)| &*migration.text);
        let problem = if matches!(flow.comparison, Comparison::New) && is_version_slug(slug) {
            format!(
                "a flow cannot be called `{slug}`: names that end in `__v` and a number are those of versions"
            )
        } else if let Some(file) = self.leftover(slug, text) {
            format!(
                "migration `{file}` is about flow `{slug}`, but `pgflow.lock` does not know it\nhelp: restore `pgflow.lock` from version control, or delete the file if no database has it"
            )
        } else {
            return match (written, &flow.comparison) {
                (Some((version, migration)), _) => {
                    self.pending.push(Pending { version, shape: shape.clone(), migration });
                }
                (None, Comparison::With { version, impact: Impact::Types, .. }) => {
                    self.relock(*version, shape);
                }
                (None, _) => {}
            };
        };
        self.problems.push(Problem::new(Some(flow.place.clone()), problem));
    }

    /// The migration that a flow needs, and the version that it makes or changes. Its name was found
    /// to fit when the flow was compared.
    fn migration_of(&self, flow: &FoundFlow) -> Option<(u32, Migration)> {
        let (shape, style) = (&flow.shape, self.style);
        let (version, migration) = match &flow.comparison {
            Comparison::New => (1, migration::create(shape, 1, &[], Impact::Nothing, style)),
            Comparison::With { impact: Impact::Nothing | Impact::Types, .. } => return None,
            Comparison::With { version, changes, impact: Impact::Options } => {
                (*version, migration::tune(shape, *version, changes, style))
            }
            Comparison::With { version, changes, impact } => {
                (version + 1, migration::create(shape, version + 1, changes, *impact, style))
            }
        };
        Some((version, migration.ok()?))
    }

    /// The last file about a flow, if the lock should know it and does not: it neither drops the
    /// flow nor is it the one that would be written now, which somebody was kept from recording.
    fn leftover(&self, flow: &str, text: Option<&str>) -> Option<String> {
        let (name, last) = self.directory.last_about(flow)?;
        let mut known = self.lock.versions_of(flow).peekable();
        let is_fine = (is_drop(last) && known.peek().is_none())
            || known.any(|locked| locked.migration == name)
            || text == Some(last);
        (!is_fine).then(|| name.to_owned())
    }

    /// Gives what is to be written its names, and records it.
    fn write_pending(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        let new = pending.iter().map(|Pending { shape, migration, .. }| NewFile {
            flow: &shape.slug,
            title: &migration.title,
            text: &migration.text,
        });
        let names = self.directory.add(&new.collect::<Vec<_>>());
        for (Pending { version, shape, migration }, (name, is_new)) in
            pending.into_iter().zip(names)
        {
            let (checksum, text) = (checksum(&migration.text), migration.text);
            if is_new && !self.directory.has_draft(&name, &text) {
                self.files.push((name.clone(), text));
            }
            let shape = self.keep_renames(version, &shape);
            self.lock.set(LockedVersion { version, migration: name, checksum, shape });
        }
        self.superseded = self.directory.superseded();
    }

    fn relock(&mut self, version: u32, shape: &FlowShape) {
        let shape = self.keep_renames(version, shape);
        if let Some(locked) = self.lock.get(&shape.slug, version).cloned() {
            self.lock.set(LockedVersion { shape, ..locked });
        }
    }

    /// What a step was called when its version was made does not change with the source.
    fn keep_renames(&self, version: u32, shape: &FlowShape) -> FlowShape {
        let mut shape = shape.clone();
        let (locked, before) = (
            self.lock.get(&shape.slug, version),
            version.checked_sub(1).and_then(|before| self.lock.get(&shape.slug, before)),
        );
        for step in &mut shape.steps {
            let was = step.was.take();
            step.was = match (locked.and_then(|locked| locked.shape.step(&step.slug)), before) {
                (Some(known), _) => known.was.clone(),
                (None, Some(before)) => was.filter(|was| before.shape.step(was).is_some()),
                (None, None) => None,
            };
        }
        shape
    }

    fn find_gone(&mut self) {
        let is_gone = |slug: &&String| self.flows.iter().all(|flow| flow.shape.slug != **slug);
        let slugs = self.lock.versions.iter().map(|locked| &locked.shape.slug);
        let gone: BTreeSet<String> = slugs.filter(is_gone).cloned().collect();
        // A flow with errors is still there.
        if self.problems.iter().any(|problem| problem.is_reported_by_compiler) {
            self.gone.clear();
            return;
        }
        self.lock.retired.retain(|flow| gone.contains(flow));
        self.gone = gone.into_iter().filter(|flow| !self.lock.retired.contains(flow)).collect();
    }

    /// What to say about each flow that is gone: it may have been renamed.
    pub fn gone_told(&self) -> Vec<String> {
        let told = |gone: &String| {
            let help = match self.renamed(gone) {
                Some(flow) => format!(
                    "flow `{}` at {} has the same steps: if it was renamed, give it `slug = \"{gone}\"`, and it keeps its runs",
                    flow.shape.slug, flow.place
                ),
                None => format!(
                    "if it was renamed, give it `slug = \"{gone}\"`; otherwise `cargo pgflow migrate --retire {gone}` notes that it is gone, and `--drop {gone}` writes a migration that deletes it"
                ),
            };
            format!(
                "flow `{gone}` is no longer in the source; it stays in the database with its runs\nhelp: {help}"
            )
        };
        self.gone.iter().map(told).collect()
    }

    /// The flow that another one may be called now: it has the same graph, and no other version.
    fn renamed(&self, gone: &str) -> Option<&FoundFlow> {
        let before = self.lock.newest(gone)?;
        self.flows.iter().find(|flow| {
            let is_first = self.lock.newest(&flow.shape.slug).is_none_or(|own| own.version == 1);
            is_first && changes(&before.shape, &flow.shape).is_empty()
        })
    }

    /// Refuses a flow that the source has, or may have: its problems hide that.
    pub(crate) fn check_absent(&mut self, flow: &str) -> Result<(), Error> {
        if self.flows.iter().any(|found| found.shape.slug == flow) {
            return Err(Error::StillThere(flow.to_owned()));
        }
        if self.problems.is_empty() {
            return Ok(());
        }
        Err(Error::Problems(std::mem::take(&mut self.problems)))
    }

    /// Plans to delete a flow that is gone, with all its versions and runs.
    pub(crate) fn drop(&mut self, flow: &str) {
        let migration = migration::drop(flow, self.lock.versions_of(flow), self.style);
        let new = NewFile { flow, title: &migration.title, text: &migration.text };
        let names = self.directory.add(&[new]);
        self.files.extend(names.into_iter().map(|(name, _)| (name, migration.text.clone())));
        self.lock.versions.retain(|locked| locked.shape.slug != flow);
        self.lock.dropped = self.directory.drops();
        self.lock.retired.remove(flow);
        self.gone.retain(|gone| gone != flow);
        self.is_locked = false;
    }
}

/// A tool applies files by their numbers, and would find no core for the flow.
fn late_core(directory: &Directory) -> Option<String> {
    let (core, flow) = directory.late_core()?;
    Some(format!(
        "`{core}` comes after `{flow}`, which needs it: no tool can apply them in this order\nhelp: run `cargo pgflow migrate --core`, which puts the core first"
    ))
}
