//! What has to be written, and what is in the way.

use std::collections::BTreeSet;
use std::path::PathBuf;

use pgflow_model::{FlowShape, Impact, Lock, LockedVersion, is_version_slug};

use crate::directory::{Directory, checksum};
use crate::migration::{self, Migration};
use crate::place::Place;
use crate::problem::Problem;
use crate::source::{Comparison, Found, FoundFlow};
use crate::style::Style;
use crate::verify;

/// What has to be written so that the migrations make the flows that the source has.
#[derive(Debug)]
pub struct Plan {
    /// The flows of the source.
    pub flows: Vec<FoundFlow>,
    /// Migrations that are missing: name and contents.
    pub files: Vec<(String, String)>,
    /// What the lock file has to say then.
    pub lock: Lock,
    /// Whether it says so already.
    pub is_locked: bool,
    /// What a user has to put right; nothing is written before.
    pub problems: Vec<Problem>,
    /// Places that could hold flows and that were not understood, and why.
    pub unseen: Vec<(Place, String)>,
    /// Flows that are in the lock but not in the source. They stay in the database.
    pub gone: Vec<String>,
    /// Source files that were read, and such that modules name but that are not there.
    pub sources: BTreeSet<PathBuf>,
    pub(crate) directory: Directory,
    pub(crate) style: Style,
}

impl Plan {
    /// `moved` is what to say if a file is missing.
    pub(crate) fn new(
        found: Found,
        lock: &Lock,
        directory: Directory,
        style: Style,
        moved: &str,
    ) -> Self {
        let mut plan = Self {
            flows: Vec::new(),
            files: Vec::new(),
            lock: lock.clone(),
            is_locked: false,
            problems: found.problems,
            unseen: found.unseen,
            gone: Vec::new(),
            sources: found.files.into_iter().chain(found.missing).collect(),
            directory,
            style,
        };
        verify::follow_renames(&mut plan.lock, &plan.directory);
        let problems = verify::problems(&plan.lock, &plan.directory, moved);
        plan.problems.extend(problems.into_iter().map(|text| Problem::new(None, text)));
        for flow in &found.flows {
            if plan.is_first(flow) {
                plan.add(flow);
                plan.flows.push(flow.clone());
            }
        }
        plan.find_gone();
        plan.is_locked = plan.lock == *lock;
        plan
    }

    /// Whether migrations and lock make what the source has.
    pub fn is_up_to_date(&self) -> bool {
        self.files.is_empty() && self.is_locked
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
                (Some((version, migration)), _) => self.write(version, shape, &migration),
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
        let is_dropped = last.lines().next().is_some_and(|line| line.ends_with(" dropped"));
        let is_fine = (is_dropped && known.peek().is_none())
            || known.any(|locked| locked.migration == name)
            || text == Some(last);
        (!is_fine).then(|| name.to_owned())
    }

    fn write(&mut self, version: u32, shape: &FlowShape, migration: &Migration) {
        let (name, is_new) = self.directory.add(&shape.slug, &migration.title, &migration.text);
        let checksum = checksum(&migration.text);
        if is_new {
            self.files.push((name.clone(), migration.text.clone()));
        }
        let shape = self.keep_renames(version, shape);
        self.lock.set(LockedVersion { version, migration: name, checksum, shape });
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
        self.gone = slugs.filter(is_gone).cloned().collect::<BTreeSet<_>>().into_iter().collect();
        // A flow with errors is still there.
        if self.problems.iter().any(|problem| problem.is_reported_by_macro) {
            self.gone.clear();
        }
    }

    /// Plans to delete a flow that is gone, with all its versions and runs.
    pub(crate) fn drop(&mut self, flow: &str) {
        let migration = migration::drop(flow, self.lock.versions_of(flow), self.style);
        let (name, _) = self.directory.add(flow, &migration.title, &migration.text);
        self.files.push((name, migration.text));
        self.lock.versions.retain(|locked| locked.shape.slug != flow);
        self.gone.retain(|gone| gone != flow);
        self.is_locked = false;
    }
}
