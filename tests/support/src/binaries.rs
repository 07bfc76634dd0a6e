//! Where the server's programs are.

use std::path::PathBuf;
use std::process::Command;

use pgflow_test_programs::{Error, POSTGRES, Result, find_postgres, run};

/// A directory with `postgres`, `initdb` and `pg_ctl`.
#[derive(Debug, Clone)]
pub struct Binaries {
    dir: PathBuf,
}

impl Binaries {
    /// The machine's own, or those of one major version.
    pub fn find(major: Option<u32>) -> Result<Self> {
        if let Some(major) = major {
            return find_postgres(major).map(Self::in_dir);
        }
        POSTGRES.directories().map(|found| Self::in_dir(&found[0]))
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
