//! What took longest last time goes first, so that no lane is left with a long one at the end.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use super::run::Outcome;
use crate::artifacts::TestBinary;

/// What takes minutes, the longest first: all that is known in a fresh clone.
const LONG: &[&str] = &[
    "pgflow-sql-tests::sql",
    "pgflow-worker-tests::worker",
    "pgflow-ui-tests::messages",
    "pgflow-cli::cli",
    "pgflow-faults::short",
    "pgflow-ui-tests::wrong",
    "pgflow-conformance::differential",
    "pgflow-conformance::postgres",
    "pgflow-mysql-tests::mysql",
    "pgflow-postgres-backend-tests::backend",
    "pgflow-conformance::mysql",
    "pgflow-web-tests::web",
    "pgflow-bench::smoke",
];

/// How long each binary took, in seconds; kept beside the binaries.
pub(super) struct Order {
    file: Option<PathBuf>,
    seconds: BTreeMap<String, f64>,
}

impl Order {
    /// What is known; nothing, the first time.
    pub(super) fn read(binaries: &[TestBinary]) -> Self {
        let dir = binaries.first().and_then(|binary| binary.path.parent()).map(PathBuf::from);
        let file = dir.map(|dir| dir.join("pgflow-test-times.json"));
        let text = file.as_ref().and_then(|file| fs::read_to_string(file).ok());
        let seconds = text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        Self { file, seconds }
    }

    /// The longest first, and before them what nobody knows; in a fresh clone those that are known to be long.
    pub(super) fn sorted(&self, mut binaries: Vec<TestBinary>) -> Vec<TestBinary> {
        if self.seconds.is_empty() {
            let place = |binary: &TestBinary| LONG.iter().position(|name| *name == binary.name);
            binaries.sort_by_key(|binary| place(binary).unwrap_or(LONG.len()));
            return binaries;
        }
        let last = |binary: &TestBinary| self.seconds.get(&binary.name).copied();
        binaries.sort_by(|a, b| {
            let [a, b] = [a, b].map(|binary| last(binary).unwrap_or(f64::INFINITY));
            b.total_cmp(&a)
        });
        binaries
    }

    /// Notes how long they took this time. Without it the next run is slower, and that is all.
    pub(super) fn write(&self, outcomes: &[Outcome]) {
        let Some(file) = &self.file else { return };
        let took = |outcome: &Outcome| (outcome.name.clone(), outcome.took.as_secs_f64());
        let seconds: BTreeMap<String, f64> = outcomes.iter().map(took).collect();
        let written = serde_json::to_string_pretty(&seconds).ok().map(|text| fs::write(file, text));
        if !matches!(written, Some(Ok(()))) {
            eprintln!("xtask: could not note how long the tests took");
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::suites) fn binary(name: &str) -> TestBinary {
        TestBinary {
            name: name.into(),
            package: name.into(),
            dir: PathBuf::new(),
            path: PathBuf::new(),
        }
    }

    #[test]
    fn the_longest_go_first_and_the_unknown_before_them() {
        let seconds = [("short".to_owned(), 1.0), ("long".to_owned(), 90.0)].into();
        let order = Order { file: None, seconds };
        let sorted = order.sorted(["short", "new", "long"].map(binary).into());
        let names: Vec<&str> = sorted.iter().map(|binary| binary.name.as_str()).collect();
        assert_eq!(names, ["new", "long", "short"]);
    }

    #[test]
    fn in_a_fresh_clone_those_known_to_be_long_go_first() {
        let order = Order { file: None, seconds: BTreeMap::new() };
        let sorted = order.sorted(["new", LONG[1], LONG[0]].map(binary).into());
        let names: Vec<&str> = sorted.iter().map(|binary| binary.name.as_str()).collect();
        assert_eq!(names, [LONG[0], LONG[1], "new"]);
    }
}
