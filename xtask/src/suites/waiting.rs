//! Which binary a lane takes next.

use crate::artifacts::TestBinary;

/// Packages whose binaries compile programs in one target directory. Cargo lets one at a time do that, so that a second
/// would keep a lane and do nothing.
const ONE_AT_A_TIME: &[&str] = &["pgflow-ui-tests"];

/// Those that have not begun, and the packages that have to wait.
pub(super) struct Waiting<'a> {
    binaries: Vec<&'a TestBinary>,
    busy: Vec<&'a str>,
}

impl<'a> Waiting<'a> {
    pub(super) fn new(binaries: &'a [TestBinary]) -> Self {
        Self { binaries: binaries.iter().collect(), busy: Vec::new() }
    }

    /// The first that can begin. If there is none, those that are left are taken by the lane that is busy with their
    /// package.
    pub(super) fn next(&mut self) -> Option<&'a TestBinary> {
        let is_free = |binary: &&TestBinary| !self.busy.contains(&binary.package.as_str());
        let found = self.binaries.iter().position(is_free)?;
        let binary = self.binaries.remove(found);
        if ONE_AT_A_TIME.contains(&binary.package.as_str()) {
            self.busy.push(&binary.package);
        }
        Some(binary)
    }

    pub(super) fn ended(&mut self, binary: &TestBinary) {
        self.busy.retain(|package| *package != binary.package);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suites::order::tests::binary;

    #[test]
    fn one_target_directory_keeps_one_lane() {
        let all = ["pgflow-ui-tests", "pgflow-ui-tests", "pgflow-cli", "pgflow-cli"].map(binary);
        let mut waiting = Waiting::new(&all);
        let mut next = || waiting.next().map(|binary| binary.package.as_str());
        let begun = [next(), next(), next(), next()];
        assert_eq!(begun, [Some("pgflow-ui-tests"), Some("pgflow-cli"), Some("pgflow-cli"), None]);
        waiting.ended(&all[0]);
        assert_eq!(waiting.next().map(|binary| binary.package.as_str()), Some("pgflow-ui-tests"));
        assert!(waiting.next().is_none());
    }
}
