//! A second look at what failed, alone on the machine.
//!
//! Two binaries at a time on a busy machine can starve a test of the seconds it needs. Whether that was it, or the code is
//! broken, is told by running the failed tests once more by themselves. What passes only then is listed at the end,
//! so that it can be mended; what fails twice fails the stage.

use super::run::{Outcome, run};
use crate::artifacts::TestBinary;

/// What became of tests that failed beside others.
pub(super) struct Again {
    /// Failed alone too.
    pub(super) failed: Vec<String>,
    /// Passed alone.
    pub(super) unstable: Vec<String>,
}

/// Runs the failed tests of each failed binary again, one binary after the other.
pub(super) fn again(binaries: &[TestBinary], outcomes: &[Outcome], args: &[String]) -> Again {
    let mut again = Again { failed: Vec::new(), unstable: Vec::new() };
    for outcome in outcomes.iter().filter(|outcome| !outcome.passed) {
        let Some(binary) = binaries.iter().find(|binary| binary.name == outcome.name) else {
            continue;
        };
        let tests = failed_tests(&outcome.said);
        println!("==> once more, alone: {} {}", outcome.name, tests.join(" "));
        let alone = run(binary, &arguments(args, &tests));
        println!("{alone}");
        let list = if alone.passed { &mut again.unstable } else { &mut again.failed };
        list.push(format!("{} {}", outcome.name, tests.join(" ")).trim_end().to_owned());
    }
    again
}

/// Those tests and no others; the whole binary if it ended without naming any.
fn arguments(args: &[String], tests: &[&str]) -> Vec<String> {
    let names = tests.iter().map(|&test| test.to_owned());
    let exact = (!tests.is_empty()).then(|| "--exact".to_owned());
    args.iter().cloned().chain(exact).chain(names).collect()
}

/// The list at the end of what libtest says, or the experiments that report a failure.
fn failed_tests(said: &str) -> Vec<&str> {
    match said.rsplit_once("\nfailures:\n") {
        Some((_, list)) => list.lines().map_while(|line| line.strip_prefix("    ")).collect(),
        None => said.lines().filter_map(failed_experiment).collect(),
    }
}

/// Of a line such as `{"id":"X05-sqlite",…,"verdict":"fail",…}`.
fn failed_experiment(line: &str) -> Option<&str> {
    let report =
        line.strip_prefix("{\"id\":\"").filter(|it| it.contains("\"verdict\":\"fail\""))?;
    report.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "running 3 tests
test a::b ... FAILED
test c ... ok

failures:

---- a::b stdout ----
    an indented line

failures:
    a::b
    d

test result: FAILED. 1 passed; 2 failed
";

    #[test]
    fn the_failed_tests_are_read_from_the_last_list() {
        assert_eq!(failed_tests(SAID), ["a::b", "d"]);
        assert_eq!(arguments(&["--nocapture".into()], &["d"]), ["--nocapture", "--exact", "d"]);
    }

    #[test]
    fn failed_experiments_are_read_from_their_reports() {
        let said = "exit status: 1\n{\"id\":\"X05-sqlite\",\"seed\":7,\"verdict\":\"fail\"}\n{\"id\":\"X06\",\"verdict\":\"pass\"}\n";
        assert_eq!(failed_tests(said), ["X05-sqlite"]);
    }

    #[test]
    fn a_binary_that_names_none_runs_whole() {
        assert!(failed_tests("signal: 6 (SIGABRT)").is_empty());
        assert_eq!(arguments(&[], &[]), Vec::<String>::new());
    }
}
