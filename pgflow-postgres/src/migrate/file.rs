//! One SQL file and its checksum.

use std::borrow::Cow;
use std::fmt::Write as _;

use sha2::{Digest, Sha256};

/// A file of the core.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SqlFile {
    /// Without the extension, below the root: `0001_schema`, `functions/start_flow`.
    pub(super) name: String,
    pub(super) sql: Cow<'static, str>,
    pub(super) checksum: String,
}

impl SqlFile {
    pub(super) fn new(name: String, sql: impl Into<Cow<'static, str>>) -> Self {
        let sql = sql.into();
        Self { checksum: checksum(&sql), name, sql }
    }

    /// The number in front of the name, if there is one.
    pub(super) fn version(&self) -> Option<i32> {
        version_of(&self.name)
    }
}

/// The number in front of a name.
pub(super) fn version_of(name: &str) -> Option<i32> {
    name.split_once('_')?.0.parse().ok()
}

/// SHA-256 in hex; the same however a checkout ends its lines.
pub(super) fn checksum(sql: &str) -> String {
    let digest = Sha256::digest(sql.replace("\r\n", "\n"));
    digest.iter().fold(String::with_capacity(64), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::{checksum, version_of};

    #[test]
    fn a_checksum_ignores_how_lines_end() {
        assert_eq!(checksum("a\r\nb\n"), checksum("a\nb\n"));
        assert_ne!(checksum("a\nb\n"), checksum("a\n b\n"));
        assert!(checksum("").starts_with("e3b0c44298fc1c14"));
    }

    #[test]
    fn only_numbered_files_have_a_version() {
        assert_eq!(version_of("0012_runs"), Some(12));
        assert_eq!(version_of("functions/start_flow"), None);
    }
}
