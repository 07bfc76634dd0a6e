//! What a build script says about its migrations.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use pgflow_model::Lock;

use crate::directory::Directory;
use crate::error::{Doing, Error};
use crate::plan::Plan;
use crate::source::Reader;
use crate::style::Style;
use crate::{roots, write};

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

    /// The settings that the crate's lock file has, if it has one.
    pub fn with_settings_of_lock(self) -> Result<Self, Error> {
        let Some((dir, style)) = self.read_lock()?.migrations else { return Ok(self) };
        let style = style.parse()?;
        Ok(Self { subdir: dir.into(), style, ..self })
    }

    /// Compares source, lock and migrations, and writes nothing.
    pub fn plan(&self) -> Result<Plan, Error> {
        let lock = self.read_lock()?;
        let mut roots = roots::find(&self.dir);
        for root in &self.roots {
            fs::metadata(self.dir.join(root)).doing("read", root)?;
            roots.push(root.clone());
        }
        if roots.is_empty() {
            return Err(Error::NoCrate(self.dir.clone()));
        }
        let found = Reader::read(&self.dir, &roots, &lock, &self.trusted)?;
        let directory = Directory::read(&self.migrations_dir(), self.style)?;
        let mut plan = Plan::new(found, &lock, directory, self.style, &self.moved(&lock));
        self.note_settings(&mut plan);
        Ok(plan)
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
            return Err(Error::UnknownFlow(flow.to_owned()));
        }
        if !plan.gone.iter().any(|gone| gone == flow) {
            return Err(Error::StillThere(flow.to_owned()));
        }
        if !plan.problems.is_empty() {
            return Err(Error::Problems(plan.problems));
        }
        plan.drop(flow);
        self.write(&plan)
    }

    /// Writes the migrations of the SQL core itself that the directory lacks.
    #[cfg(feature = "core")]
    pub fn migrate_core(&self) -> Result<Vec<PathBuf>, Error> {
        use pgflow_runtime::postgres::{Core, Format};
        let format = match self.style {
            Style::Sqlx => Format::Sqlx,
            Style::Refinery => Format::Refinery,
            Style::Plain => Format::Psql,
        };
        Ok(Core::embedded().emit(format, &self.migrations_dir())?)
    }

    pub(crate) fn write(&self, plan: &Plan) -> Result<Vec<PathBuf>, Error> {
        let mut written = Vec::new();
        for (name, text) in &plan.files {
            let path = plan.directory.file(name);
            written.extend(write::if_changed(&path, text)?.then_some(path));
        }
        let path = self.lock_path();
        if !plan.is_locked && write::if_changed(&path, &plan.lock.to_string())? {
            written.push(path);
        }
        Ok(written)
    }

    pub(crate) fn migrations_dir(&self) -> PathBuf {
        self.dir.join(&self.subdir)
    }

    pub(crate) fn lock_path(&self) -> PathBuf {
        self.dir.join("pgflow.lock")
    }

    fn read_lock(&self) -> Result<Lock, Error> {
        let path = self.lock_path();
        match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Lock::default()),
            text => Ok(text.doing("read", &path)?.parse()?),
        }
    }

    fn settings(&self) -> (String, String) {
        let below = self.subdir.strip_prefix(&self.dir).unwrap_or(&self.subdir);
        (slashes(below), self.style.to_string())
    }

    /// What to say about a missing file if the lock was written with other settings.
    fn moved(&self, lock: &Lock) -> String {
        let ours = self.settings();
        match &lock.migrations {
            Some(settings @ (dir, style)) if *settings != ours => format!(
                " in `{}`\nnote: `pgflow.lock` was written for {style} files in `{dir}`, and now it is {} files: move and rename them, or keep the settings",
                ours.0, ours.1
            ),
            _ => String::new(),
        }
    }

    /// So that the command line knows what the build script said.
    fn note_settings(&self, plan: &mut Plan) {
        let settings = Some(self.settings());
        if !plan.lock.versions.is_empty() && plan.lock.migrations != settings {
            plan.lock.migrations = settings;
            plan.is_locked = false;
        }
    }
}

/// A path as it is written on every platform.
fn slashes(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}
