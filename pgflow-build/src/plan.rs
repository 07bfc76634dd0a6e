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
    pub(crate) fn new(found: Found, lock: &Lock, directory: Directory, style: Style) -> Self {
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
        plan.verify_files();
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

    /// Each file that the lock knows is as it was written.
    fn verify_files(&mut self) {
        for locked in &self.lock.versions {
            let name = &locked.migration;
            let what = match self.directory.get(name) {
                None => "is missing",
                Some(text) if checksum(text) != locked.checksum => {
                    "has changed since it was written"
                }
                Some(_) => continue,
            };
            let text = format!(
                "migration `{name}` of flow `{}` {what}\nhelp: restore it from version control: a changed flow gets a migration of its own",
                locked.shape.slug
            );
            self.problems.push(Problem::new(None, text));
        }
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
        let shape = &flow.shape;
        let result = match &flow.comparison {
            Comparison::New => return self.add_new(flow),
            Comparison::With { impact: Impact::Nothing, .. } => return,
            Comparison::With { version, impact: Impact::Types, .. } => {
                return self.relock(*version, shape);
            }
            Comparison::With { version, changes, impact: Impact::Options } => {
                let written = migration::tune(shape, *version, changes, self.style);
                written.map(|migration| (*version, migration))
            }
            Comparison::With { version, changes, impact } => {
                let next = version + 1;
                let written = migration::create(shape, next, changes, *impact, self.style);
                written.map(|migration| (next, migration))
            }
        };
        // The name was found to fit when the flow was compared.
        if let Ok((version, migration)) = result {
            self.write(version, shape, &migration);
        }
    }

    fn add_new(&mut self, flow: &FoundFlow) {
        let slug = &flow.shape.slug;
        let Ok(migration) = migration::create(&flow.shape, 1, &[], Impact::Nothing, self.style)
        else {
            return;
        };
        let problem = if is_version_slug(slug) {
            format!(
                "a flow cannot be called `{slug}`: names that end in `__v` and a number are those of versions"
            )
        } else if let Some(file) = self.leftover(slug, &migration.text) {
            format!(
                "migration `{file}` is about flow `{slug}`, but `pgflow.lock` does not know it\nhelp: restore `pgflow.lock` from version control"
            )
        } else {
            return self.write(1, &flow.shape, &migration);
        };
        self.problems.push(Problem::new(Some(flow.place.clone()), problem));
    }

    /// A file about a flow that the lock should know, because it neither ends with it nor is it
    /// the one that would be written now.
    fn leftover(&self, flow: &str, text: &str) -> Option<&str> {
        let (name, last) = self.directory.last_about(flow)?;
        let is_dropped = last.lines().next().is_some_and(|line| line.ends_with(" dropped"));
        (last != text && !is_dropped).then_some(name)
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
