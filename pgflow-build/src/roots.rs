//! The files a crate's targets start from.

use std::fs;
use std::path::{Path, PathBuf};

use crate::manifest;

/// `src/lib.rs`, `src/main.rs`, `src/bin/*.rs`, and what `Cargo.toml` names instead of them.
///
/// Tests, examples and benchmarks have no migrations.
pub(crate) fn find(dir: &Path) -> Vec<PathBuf> {
    let mut roots = vec![PathBuf::from("src/lib.rs"), PathBuf::from("src/main.rs")];
    let manifest = fs::read_to_string(dir.join("Cargo.toml")).unwrap_or_default();
    roots.extend(manifest::target_paths(&manifest));
    for entry in fs::read_dir(dir.join("src/bin")).into_iter().flatten().flatten() {
        let path = PathBuf::from("src/bin").join(entry.file_name());
        let is_dir = dir.join(&path).is_dir();
        roots.push(if is_dir { path.join("main.rs") } else { path });
    }
    roots.retain(|root| {
        root.extension().is_some_and(|kind| kind == "rs") && dir.join(root).is_file()
    });
    roots.sort();
    roots.dedup();
    roots
}
