//! Which crates a command is about.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pgflow_build::{Migrations, Plan};
use serde_json::Value;

use crate::args::{MigrationFiles, Options};
use crate::error::Error;

/// A crate with flows.
pub(crate) struct Crate {
    /// Where it is.
    pub(crate) dir: PathBuf,
    /// What to put before its paths, so that they lead there from where the user is.
    prefix: PathBuf,
}

impl Options {
    /// The crates that a command is about; never none.
    pub(crate) fn crates(&self) -> Result<Vec<Crate>, Error> {
        let near = nearest(&self.dir).ok_or_else(|| Error::NoCrate(self.dir.clone()))?;
        let (is_package, is_workspace) =
            (has_table(&near, "package"), has_table(&near, "workspace"));
        if self.package.is_none() && !self.workspace && is_package && !is_workspace {
            return Ok(vec![self.at(near)]);
        }
        let members = members(&near)?;
        let is_wanted = |member: &Value| match &self.package {
            Some(name) => member["name"] == **name,
            None => has_flows(member),
        };
        let dirs = members.iter().filter(|member| is_wanted(member)).filter_map(dir);
        let mut found: Vec<_> = dirs.map(|dir| self.at(dir)).collect();
        found.sort_by(|a, b| a.dir.cmp(&b.dir));
        match (&self.package, found.is_empty()) {
            (Some(name), true) => Err(Error::NoPackage(name.clone())),
            // A crate that is a workspace of its own, and is new.
            (None, true) if is_package && !self.workspace => Ok(vec![self.at(near)]),
            (None, true) => Err(Error::NoFlows(near)),
            _ => Ok(found),
        }
    }

    /// The only crate, for what is done to one at a time.
    pub(crate) fn only_crate(&self) -> Result<Crate, Error> {
        let mut crates = self.crates()?;
        match (crates.pop(), crates.is_empty()) {
            (Some(one), true) => Ok(one),
            _ => Err(Error::ManyCrates),
        }
    }

    fn at(&self, dir: PathBuf) -> Crate {
        let start = self.dir.canonicalize().unwrap_or_else(|_| self.dir.clone());
        let prefix = match (dir.strip_prefix(&start), start.strip_prefix(&dir)) {
            (Ok(below), _) => below.to_owned(),
            (_, Ok(above)) => above.iter().map(|_| "..").collect(),
            _ => dir.clone(),
        };
        Crate { dir, prefix }
    }
}

impl Crate {
    /// Its migrations, as its lock says they are.
    pub(crate) fn migrations(&self, place: Option<&MigrationFiles>) -> Result<Migrations, Error> {
        let migrations =
            pgflow_build::migrations("migrations").in_crate(&self.dir).with_settings_of_lock()?;
        let migrations = match place {
            Some(place) => place.apply(migrations),
            None => migrations,
        };
        Ok(match self.described() {
            Some((target, package)) => migrations.noted_in(&target, &package),
            None => migrations,
        })
    }

    /// Its target directory and its name, if cargo can read its manifest.
    fn described(&self) -> Option<(PathBuf, String)> {
        let described = metadata(&self.dir).ok()?;
        let target = described["target_directory"].as_str()?.into();
        let mut packages = described["packages"].as_array()?.iter();
        let package = packages.find(|package| dir(package).is_some_and(|dir| dir == self.dir))?;
        Some((target, package["name"].as_str()?.to_owned()))
    }

    /// The same plan, with paths from where the user is.
    pub(crate) fn shown(&self, mut plan: Plan) -> Plan {
        let flows = plan.flows.iter_mut().map(|flow| &mut flow.place);
        let problems = plan.problems.iter_mut().filter_map(|problem| problem.place.as_mut());
        let unseen = plan.unseen.iter_mut().map(|(place, _)| place);
        for place in flows.chain(problems).chain(unseen) {
            place.file = self.prefix.join(&place.file);
        }
        plan
    }

    /// Where it is, from where the user is.
    pub(crate) fn place(&self) -> String {
        let path = if self.prefix.as_os_str().is_empty() { Path::new(".") } else { &self.prefix };
        path.display().to_string()
    }

    /// A path in the crate, from where the user is.
    pub(crate) fn path(&self, path: &Path) -> String {
        let path = path.strip_prefix(&self.dir).unwrap_or(path);
        self.prefix.join(path).display().to_string()
    }
}

/// The closest directory above that has a `Cargo.toml`.
fn nearest(dir: &Path) -> Option<PathBuf> {
    let dir = dir.canonicalize().ok()?;
    dir.ancestors().find(|dir| dir.join("Cargo.toml").is_file()).map(Path::to_owned)
}

/// Whether the manifest of a directory is that of a package, or of a workspace; it may be both.
fn has_table(dir: &Path, name: &str) -> bool {
    let manifest = fs::read_to_string(dir.join("Cargo.toml")).unwrap_or_default();
    let (whole, below) = (format!("[{name}]"), format!("[{name}."));
    let is_header = |line: &str| line.starts_with(&whole) || line.starts_with(&below);
    manifest.lines().any(|line| is_header(line.trim_start()))
}

/// What to call cargo by.
pub(crate) fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// The crates of a workspace.
fn members(dir: &Path) -> Result<Vec<Value>, Error> {
    Ok(metadata(dir)?["packages"].as_array().cloned().unwrap_or_default())
}

/// A workspace, as cargo describes it.
fn metadata(dir: &Path) -> Result<Value, Error> {
    let output = Command::new(cargo())
        .current_dir(dir)
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .output()
        .map_err(|source| Error::Run { program: "cargo", source })?;
    if !output.status.success() {
        return Err(Error::Workspace(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    serde_json::from_slice(&output.stdout).map_err(Error::Metadata)
}

fn dir(member: &Value) -> Option<PathBuf> {
    Path::new(member["manifest_path"].as_str()?).parent().map(Path::to_owned)
}

/// Whether its build script can write migrations, or has.
fn has_flows(member: &Value) -> bool {
    let dependencies = member["dependencies"].as_array().into_iter().flatten();
    let is_build = |dep: &Value| dep["name"] == "pgflow-build" && dep["kind"] == "build";
    dependencies.into_iter().any(is_build)
        || dir(member).is_some_and(|dir| dir.join("pgflow.lock").is_file())
}
