//! What a build script says about its migrations.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use pgflow_model::{Lock, StoredSchemas};

use crate::directory::Directory;
use crate::drafts::Keeper;
use crate::error::{Doing, Error};
use crate::plan::Plan;
use crate::problem::Problem;
use crate::source::{Found, Reader};
use crate::stopped::Stopped;
use crate::style::Style;
use crate::{drafts, notes, roots, syntax, verify, write};

/// The migrations of a crate, in a directory below it.
///
/// ```no_run
/// // build.rs
/// pgflow_build::migrations("migrations").style(pgflow_build::Style::Refinery).emit();
/// ```
#[derive(Clone, Debug)]
#[must_use = "call `emit` in a build script, or `migrate`"]
pub struct Migrations {
    pub(crate) dir: PathBuf,
    /// Where migrations are, below the crate.
    pub(crate) subdir: PathBuf,
    pub(crate) style: Style,
    pub(crate) is_check_only: bool,
    roots: Vec<PathBuf>,
    trusted: Vec<PathBuf>,
    /// Where programs note which migrations they have applied.
    notes: Option<PathBuf>,
}

/// The migrations of the crate whose build script calls this, in the directory `dir`.
///
/// ```no_run
/// // in build.rs
/// pgflow_build::migrations("migrations").emit();
/// ```
pub fn migrations(dir: impl Into<PathBuf>) -> Migrations {
    let crate_dir =
        std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| ".".into(), PathBuf::from);
    Migrations {
        dir: crate_dir,
        subdir: dir.into(),
        style: Style::default(),
        is_check_only: false,
        roots: Vec::new(),
        trusted: Vec::new(),
        notes: None,
    }
}

impl Migrations {
    /// Of the crate in another directory.
    pub fn in_crate(self, dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into(), ..self }
    }

    /// In another directory below the crate.
    pub fn in_directory(self, dir: impl Into<PathBuf>) -> Self {
        Self { subdir: dir.into(), ..self }
    }

    /// With file names for another tool; [`Style::Sqlx`] is the default.
    pub fn style(self, style: Style) -> Self {
        Self { style, ..self }
    }

    /// Never written by a build, only compared: migrations come from `cargo pgflow migrate`.
    pub fn check_only(self) -> Self {
        Self { is_check_only: true, ..self }
    }

    /// With one more file to start from, for a crate whose targets are in unusual places.
    pub fn root(mut self, file: impl Into<PathBuf>) -> Self {
        self.roots.push(file.into());
        self
    }

    /// Without warnings about macros and included files in that source file, which has no flows.
    pub fn no_flows_in(mut self, file: impl Into<PathBuf>) -> Self {
        self.trusted.push(file.into());
        self
    }

    /// With the notes that programs of this package leave in a target directory about migrations that
    /// they have applied, which are then not rewritten any more. A build script finds them itself.
    pub fn noted_in(self, target: &Path, package: &str) -> Self {
        self.with_notes(Some(notes::in_target(target, package)))
    }

    pub(crate) fn notes(&self) -> Option<&Path> {
        self.notes.as_deref()
    }

    pub(crate) fn with_notes(self, notes: Option<PathBuf>) -> Self {
        Self { notes, ..self }
    }

    /// The settings that the crate's lock file has, if it has one.
    pub fn with_settings_of_lock(self) -> Result<Self, Error> {
        let lock = self.read_lock()?;
        let Some((dir, style)) = lock.migrations else { return Ok(self) };
        let style = style.parse()?;
        let paths = |files: Vec<String>| files.into_iter().map(PathBuf::from).collect();
        let (roots, trusted) = (paths(lock.roots), paths(lock.no_flows_in));
        Ok(Self { subdir: dir.into(), style, roots, trusted, ..self })
    }

    /// Compares source, lock and migrations, and writes nothing.
    pub fn plan(&self) -> Result<Plan, Error> {
        let lock = self.read_lock()?;
        let directory = Directory::read(&self.migrations_dir(), self.style)?;
        let mut known = lock.clone();
        let renamed = verify::follow_renames(&mut known, &directory);
        let mut damage = verify::problems(&known, &directory, &self.moved(&lock));
        let mut plan = Plan::new(self.read(&known)?, known.clone(), directory.clone());
        if !damage.is_empty() {
            match self.plan_stopped(&plan, &known, &directory)? {
                Stopped::Nowhere => {}
                Stopped::Here(resumed) => (plan, damage) = (*resumed, Vec::new()),
                Stopped::Unclear(told) => damage = told,
            }
        } else if !plan.is_settled(&known) {
            plan = self.plan_drafts(plan, &known, &directory)?;
        }
        plan.problems.extend(damage.into_iter().map(|text| Problem::new(None, text)));
        plan.relocated.extend(renamed);
        self.note_settings(&mut plan);
        plan.is_locked = plan.lock == lock;
        if !plan.is_up_to_date() || !plan.gone.is_empty() {
            plan.refuse(syntax::problems(&self.dir, &plan.sources, &self.trusted));
        }
        plan.refuse_foreign();
        Ok(plan)
    }

    /// The same plan, with drafts written anew where their flows have changed since.
    fn plan_drafts(&self, plan: Plan, lock: &Lock, directory: &Directory) -> Result<Plan, Error> {
        let keeper = self.keeper();
        let drafts = drafts::find(&keeper, lock, directory, &plan);
        let rest = directory.without(&drafts);
        let before = keeper.before(lock, &rest, &plan).map_err(Error::History)?;
        let mut plan =
            if before == *lock { plan } else { Plan::new(self.read(&before)?, before, rest) };
        plan.lock.drafts = keeper.stamp(lock, directory, &plan.directory);
        Ok(plan)
    }

    pub(crate) fn keeper(&self) -> Keeper {
        let applied = self.notes.as_deref().map(notes::read).unwrap_or_default();
        Keeper::of(&self.dir, &self.migrations_dir(), applied)
    }

    /// The flows of the source, compared with a lock.
    pub(crate) fn read(&self, lock: &Lock) -> Result<Found, Error> {
        let mut roots = roots::find(&self.dir);
        for root in &self.roots {
            fs::metadata(self.dir.join(root)).doing("read", root)?;
            roots.push(root.clone());
        }
        if roots.is_empty() {
            return Err(Error::NoCrate(self.dir.clone()));
        }
        Reader::read(&self.dir, &roots, lock, &self.trusted)
    }

    /// Writes what is missing, and returns the files: migrations first, `pgflow.lock` last.
    ///
    /// Nothing is written while there are problems.
    pub fn migrate(&self) -> Result<Vec<PathBuf>, Error> {
        let _alone = write::alone(&self.dir);
        let plan = self.plan()?;
        if !plan.problems.is_empty() {
            return Err(Error::Problems(plan.problems));
        }
        self.write(&plan)
    }

    /// Writes a migration that deletes a flow that is no longer in the source, with all its runs.
    pub fn drop_flow(&self, flow: &str) -> Result<Vec<PathBuf>, Error> {
        let _alone = write::alone(&self.dir);
        let mut plan = self.plan()?;
        if plan.lock.newest(flow).is_none() {
            // No database has it, so there is nothing to delete but its draft.
            if self.read_lock()?.newest(flow).is_some() && plan.problems.is_empty() {
                return self.write(&plan);
            }
            return Err(Error::UnknownFlow(flow.to_owned()));
        }
        plan.check_absent(flow)?;
        let (lock, before) = (plan.lock.clone(), plan.directory.clone());
        plan.drop(flow);
        plan.lock.drafts = self.keeper().stamp(&lock, &before, &plan.directory);
        let mut written = self.write(&plan)?;
        written.extend(self.forget_schemas(flow)?);
        Ok(written)
    }

    /// Notes in `pgflow.lock` that a flow is gone from the source on purpose, and stays in the database
    /// with its runs. Returns what was written.
    pub fn retire_flow(&self, flow: &str) -> Result<Vec<PathBuf>, Error> {
        let _alone = write::alone(&self.dir);
        let mut plan = self.plan()?;
        if plan.lock.newest(flow).is_none() {
            return Err(Error::UnknownFlow(flow.to_owned()));
        }
        plan.check_absent(flow)?;
        plan.is_locked &= !plan.lock.retired.insert(flow.to_owned());
        self.write(&plan)
    }

    pub(crate) fn write(&self, plan: &Plan) -> Result<Vec<PathBuf>, Error> {
        let mut written = Vec::new();
        for (name, text) in &plan.files {
            let path = plan.directory.file(name);
            written.extend(write::if_changed(&path, text)?.then_some(path));
        }
        for name in &plan.superseded {
            write::remove(&plan.directory.file(name))?;
        }
        written.extend(self.write_lock(&plan.lock, plan.is_locked)?);
        Ok(written)
    }

    /// Writes the lock, unless it is known to be right.
    pub(crate) fn write_lock(
        &self,
        lock: &Lock,
        is_locked: bool,
    ) -> Result<Option<PathBuf>, Error> {
        let path = self.lock_path();
        Ok((!is_locked && write::if_changed(&path, &lock.to_string())?).then_some(path))
    }

    /// Takes a deleted flow out of `pgflow.schemas.json`: one that is called so later stores other data.
    fn forget_schemas(&self, flow: &str) -> Result<Option<PathBuf>, Error> {
        let path = self.dir.join("pgflow.schemas.json");
        if !path.is_file() {
            return Ok(None);
        }
        let mut schemas: StoredSchemas = fs::read_to_string(&path).doing("read", &path)?.parse()?;
        schemas.forget(flow);
        Ok(write::if_changed(&path, &schemas.to_string())?.then_some(path))
    }

    pub(crate) fn migrations_dir(&self) -> PathBuf {
        self.dir.join(&self.subdir)
    }

    pub(crate) fn lock_path(&self) -> PathBuf {
        self.dir.join("pgflow.lock")
    }

    pub(crate) fn read_lock(&self) -> Result<Lock, Error> {
        let path = self.lock_path();
        match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Lock::default()),
            text => Ok(text.doing("read", &path)?.parse()?),
        }
    }

    pub(crate) fn settings(&self) -> (String, String) {
        let below = self.subdir.strip_prefix(&self.dir).unwrap_or(&self.subdir);
        (slashes(below), self.style.to_string())
    }

    /// Where a file is missing, and why if the lock was written with other settings.
    fn moved(&self, lock: &Lock) -> String {
        let (dir, style) = self.settings();
        let note = match &lock.migrations {
            Some(settings @ (old, was)) if *settings != (dir.clone(), style.clone()) => format!(
                "\nnote: `pgflow.lock` was written for {was} files in `{old}`, and now it is {style} files: move and rename them, or keep the settings"
            ),
            _ => String::new(),
        };
        format!(" in `{dir}`{note}")
    }

    /// So that the command line knows what the build script said.
    fn note_settings(&self, plan: &mut Plan) {
        let settings = self.settings();
        if plan.lock.versions.is_empty() {
            return;
        }
        let names = |files: &[PathBuf]| files.iter().map(|file| slashes(file)).collect();
        (plan.lock.roots, plan.lock.no_flows_in) = (names(&self.roots), names(&self.trusted));
        if let Some((dir, style)) = plan.lock.migrations.as_ref().filter(|old| **old != settings) {
            let (new_dir, new_style) = &settings;
            plan.relocated.push(format!(
                "migrations were {style} files in `{dir}`, and are {new_style} files in `{new_dir}` now"
            ));
        }
        plan.lock.migrations = Some(settings);
    }
}

/// A path as it is written on every platform.
fn slashes(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}
