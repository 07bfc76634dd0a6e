//! What is broken, and with which tests that has to show.

use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::catalog;
use super::error::Error;
use super::mutation::Mutation;
use super::test_run::Tests;
use super::workplace::Workplace;
use crate::artifacts::{build_package, build_tests};

/// The two places where transitions are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Subject {
    /// The SQL core, with the tests in `tests/sql`.
    Sql,
    /// `pgflow-machine`, with its own tests: each mutant is compiled.
    Machine,
}

impl Subject {
    pub(crate) const ALL: [Self; 2] = [Self::Sql, Self::Machine];

    pub(crate) fn mutations(self) -> Vec<Mutation> {
        match self {
            Self::Sql => catalog::sql().collect(),
            Self::Machine => catalog::machine().collect(),
        }
    }

    /// Files of mutations are named from here.
    pub(crate) fn root(self, tree: &Path) -> PathBuf {
        match self {
            Self::Sql => tree.join("postgres"),
            Self::Machine => tree.join("pgflow-machine/src"),
        }
    }

    /// The same in the working tree.
    #[cfg(test)]
    pub(crate) fn source(self) -> PathBuf {
        match self {
            Self::Sql => self.root(&repository().join("migrations")),
            Self::Machine => self.root(&repository()),
        }
    }

    pub(crate) fn workplace(self) -> Result<Workplace, Error> {
        match self {
            Self::Sql => Workplace::new("sql", &[repository().join("migrations/postgres")]),
            Self::Machine => {
                let crates = MACHINE.map(|name| repository().join(name));
                let workplace = Workplace::new("machine", &crates)?;
                workplace.add("Cargo.toml", &only_machine(&read("Cargo.toml")?))?;
                workplace.add("Cargo.lock", &read("Cargo.lock")?)?;
                Ok(workplace)
            }
        }
    }

    /// The tests of the copy as it is now; what the compiler says if they cannot be built.
    pub(crate) fn tests(
        self,
        workplace: &Workplace,
        skip: &[String],
    ) -> Result<Result<Tests, String>, Error> {
        let binaries = match self {
            Self::Sql => Ok(vec![sql_tests(workplace)?]),
            Self::Machine => machine_tests(workplace)?,
        };
        let (core, log) = (self.root(&workplace.copy()), workplace.log());
        Ok(binaries.map(|binaries| Tests { binaries, core, log, skip: skip.to_vec() }))
    }
}

/// The binary installs whatever core it is told, so that one is enough for all mutants.
fn sql_tests(workplace: &Workplace) -> Result<PathBuf, Error> {
    let kept = workplace.kept_binary();
    if kept.is_file() {
        return Ok(kept);
    }
    let binaries = build_tests().ok_or(Error::Build)?;
    let sql = binaries.into_iter().find(|binary| binary.name == "pgflow-sql-tests::sql");
    workplace.keep_binary(&sql.ok_or(Error::Build)?.path)
}

fn machine_tests(workplace: &Workplace) -> Result<Result<Vec<PathBuf>, String>, Error> {
    // Dependencies stay built from one time to the next.
    let target = repository().join("target/mutants");
    let copy = workplace.copy();
    let built = build_package(&copy, MACHINE[0], &target);
    let built = built.map_err(|source| Error::io(&copy, source))?;
    Ok(built.map(|binaries| binaries.into_iter().map(|binary| binary.path).collect()))
}

/// The machine and what it depends on in this repository.
const MACHINE: [&str; 2] = ["pgflow-machine", "pgflow-model"];

/// The manifest of a workspace that has nothing else.
fn only_machine(manifest: &str) -> String {
    let (before, rest) = manifest.split_once("members = [").unwrap_or((manifest, "]"));
    let (_, after) = rest.split_once(']').unwrap_or_default();
    format!("{before}members = {MACHINE:?}{after}")
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(name: &str) -> Result<String, Error> {
    let path = repository().join(name);
    std::fs::read_to_string(&path).map_err(|source| Error::io(&path, source))
}

#[cfg(test)]
mod tests {
    use super::only_machine;

    #[test]
    fn other_members_are_left_out() {
        let manifest = "[workspace]\nmembers = [\n  \"xtask\",\n]\n\n[workspace.package]\n";
        let expected = "[workspace]\nmembers = [\"pgflow-machine\", \"pgflow-model\"]\n\n[workspace.package]\n";
        assert_eq!(only_machine(manifest), expected);
    }
}
