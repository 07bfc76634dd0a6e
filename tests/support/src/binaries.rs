//! Where the server's programs are.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Error, Result};
use crate::process::run;
use crate::{apt, npm};

/// A directory with `postgres`, `initdb` and `pg_ctl`.
#[derive(Debug, Clone)]
pub struct Binaries {
    dir: PathBuf,
}

impl Binaries {
    /// The machine's own, or those of one major version.
    pub fn find(major: Option<u32>) -> Result<Self> {
        if let Some(major) = major {
            return npm::binaries(major).map(Self::in_dir);
        }
        installed().or_else(|| apt::install("postgresql").then(installed).flatten()).ok_or_else(
            || {
                let help = format!("install one, for example with `{}`", command());
                Error::NotFound { what: "Postgres server", help }
            },
        )
    }

    /// Those of a directory.
    pub fn in_dir(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// The path of one program.
    pub fn program(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// `postgres (PostgreSQL) 15.18 (Debian …)` is 150018.
    pub(crate) fn version_num(&self) -> Result<u32> {
        let program = self.program("postgres");
        let output = run(Command::new(&program).arg("--version"))?;
        let number = output.split_whitespace().nth(2).and_then(|version| {
            let mut numbers = version.split('.').map(|number| number.parse::<u32>().ok());
            Some(numbers.next()?? * 10_000 + numbers.next()??)
        });
        let program = program.display().to_string();
        number.ok_or(Error::Program { program, output })
    }
}

/// Looks in the usual places, the most explicit first.
fn installed() -> Option<Binaries> {
    pg_config().into_iter().chain(path()).chain(debian()).map(Binaries::in_dir).find(is_complete)
}

fn is_complete(binaries: &Binaries) -> bool {
    ["postgres", "initdb", "pg_ctl"].iter().all(|name| binaries.program(name).is_file())
}

fn pg_config() -> Option<PathBuf> {
    let output = Command::new("pg_config").arg("--bindir").output().ok()?;
    let dir = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| PathBuf::from(dir.trim()))
}

pub(crate) fn path() -> Vec<PathBuf> {
    std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default()
}

/// Debian keeps every major version in a directory of its own; the newest first.
fn debian() -> Vec<PathBuf> {
    let mut versions: Vec<(u32, PathBuf)> = Path::new("/usr/lib/postgresql")
        .read_dir()
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path())))
        .collect();
    versions.sort_by_key(|(major, _)| std::cmp::Reverse(*major));
    versions.into_iter().map(|(_, path)| path.join("bin")).collect()
}

/// What a person would type on this platform.
fn command() -> &'static str {
    if cfg!(target_os = "macos") {
        "brew install postgresql@17"
    } else if apt::is_debian() {
        "sudo apt-get install -y postgresql"
    } else if Path::new("/etc/alpine-release").exists() {
        "apk add postgresql"
    } else if Path::new("/etc/arch-release").exists() {
        "pacman -S postgresql"
    } else {
        "dnf install postgresql-server"
    }
}
