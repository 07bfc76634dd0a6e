//! Which migrations a program of this crate has applied to a database.
//!
//! A debug build notes that in cargo's target directory, so that the next build does not rewrite
//! what a database of the developer has. Tests do not: their databases go away with them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Checksums of files, as [`checksum`](crate::directory::checksum) makes them.
pub(crate) fn read(file: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines().filter_map(|line| line.split(' ').next_back()).map(str::to_owned).collect()
}

/// Where programs of a package leave their notes: in the outermost target directory, which the builds
/// of an editor share even if they have a target directory of their own inside it.
pub(crate) fn file(out_dir: &Path, package: &str) -> Option<PathBuf> {
    let is_target = |dir: &&Path| dir.join("CACHEDIR.TAG").is_file();
    let target = out_dir.ancestors().filter(is_target).last()?;
    Some(in_target(target, package))
}

/// The same, below a target directory.
pub(crate) fn in_target(target: &Path, package: &str) -> PathBuf {
    target.join("pgflow").join(format!("{package}.applied"))
}
