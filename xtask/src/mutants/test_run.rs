//! One run of test binaries.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::error::Error;

/// A mutant may leave a test waiting for ever; the slowest healthy run takes a few minutes.
const PATIENCE: Duration = Duration::from_mins(8);

/// How invalid SQL shows: bodies of functions are not looked at until they run, so most of it
/// installs. Syntax, columns, functions, parameters, ambiguity.
const INVALID: &[&str] =
    &["cannot install the core", "42601 ", "42703 ", "42883 ", "42P02 ", "42702 "];

/// The binaries, and where they find the SQL core and leave their output.
pub(crate) struct Tests {
    pub(crate) binaries: Vec<PathBuf>,
    pub(crate) core: PathBuf,
    pub(crate) log: PathBuf,
    /// Tests to leave out, as the binary's own `--skip` takes them.
    pub(crate) skip: Vec<String>,
}

/// What a run says.
#[derive(Default)]
pub(crate) struct Verdict {
    /// How many tests the filters let through.
    pub(crate) tests: usize,
    pub(crate) failed: Vec<String>,
    /// It had to be stopped.
    pub(crate) hangs: bool,
    /// The SQL is not valid, so that whatever runs it fails.
    pub(crate) broken: Option<String>,
}

impl Tests {
    /// The names of all tests, one per line.
    pub(crate) fn list(&self) -> Result<String, Error> {
        let mut names = String::new();
        for binary in &self.binaries {
            let output = Command::new(binary).arg("--list").output();
            let output = output.map_err(|source| Error::io(binary, source))?;
            names += &String::from_utf8_lossy(&output.stdout);
        }
        Ok(names)
    }

    /// Runs the tests that match one of the filters; all if there are none.
    pub(crate) fn run(&self, filters: &[&str]) -> Result<Verdict, Error> {
        let mut all = Verdict::default();
        for binary in &self.binaries {
            let verdict = self.run_binary(binary, filters)?;
            all.tests += verdict.tests;
            all.failed.extend(verdict.failed);
            all.hangs |= verdict.hangs;
            all.broken = all.broken.or(verdict.broken);
        }
        Ok(all)
    }

    fn run_binary(&self, binary: &Path, filters: &[&str]) -> Result<Verdict, Error> {
        let log = File::create(&self.log).map_err(|source| Error::io(&self.log, source))?;
        let errors = log.try_clone().map_err(|source| Error::io(&self.log, source))?;
        let mut child = Command::new(binary)
            .args(filters)
            .args(self.skip.iter().flat_map(|skip| ["--skip", skip]))
            .env("PGFLOW_TEST_CORE_DIR", &self.core)
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(errors)
            .spawn()
            .map_err(|source| Error::io(binary, source))?;
        let ended = wait(&mut child, PATIENCE).map_err(|source| Error::io(binary, source))?;
        let output = read(&self.log)?;
        let mut verdict = verdict(&output);
        verdict.hangs = ended.is_none();
        if ended == Some(false) && verdict.failed.is_empty() {
            verdict.failed.push("the test binary itself".into());
        }
        Ok(verdict)
    }
}

/// Whether it succeeded; nothing if its time was up and it was stopped.
fn wait(child: &mut Child, patience: Duration) -> std::io::Result<Option<bool>> {
    let end = Instant::now() + patience;
    while Instant::now() < end {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status.success()));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

fn read(log: &Path) -> Result<String, Error> {
    let bytes = std::fs::read(log).map_err(|source| Error::io(log, source))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn verdict(output: &str) -> Verdict {
    let word = |line: &str, n: usize| line.split(' ').nth(n).unwrap_or_default().to_owned();
    let running = output.lines().find(|line| line.starts_with("running "));
    let is_invalid = |line: &&str| INVALID.iter().any(|start| line.starts_with(start));
    let is_failure = |line: &&str| line.starts_with("test ") && line.ends_with(" ... FAILED");
    Verdict {
        tests: running.and_then(|line| word(line, 1).parse().ok()).unwrap_or(0),
        failed: output.lines().filter(is_failure).map(|line| word(line, 1)).collect(),
        hangs: false,
        broken: output.lines().find(is_invalid).map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::verdict;

    #[test]
    fn failures_are_read_from_the_output() {
        let output = "\nrunning 3 tests\ntest a::b ... ok\ntest a::c ... FAILED\n\nfailures:\n";
        let verdict = verdict(output);
        assert_eq!((verdict.tests, verdict.failed), (3, vec!["a::c".to_owned()]));
        assert!(verdict.broken.is_none());
    }

    #[test]
    fn invalid_sql_is_told_apart() {
        for line in ["cannot install the core: no", "42601 syntax error at or near \"(\""] {
            let output = format!("running 1 test\ntest a ... FAILED\n{line}\nin select 1");
            assert_eq!(verdict(&output).broken.as_deref(), Some(line));
        }
        assert!(verdict("23505 duplicate key").broken.is_none());
    }
}
