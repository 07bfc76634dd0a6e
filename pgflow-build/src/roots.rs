//! The files a crate's targets start from.

use std::fs;
use std::path::{Path, PathBuf};

/// `src/lib.rs`, `src/main.rs`, `src/bin/*.rs`, and what `Cargo.toml` names instead of them.
///
/// Tests, examples and benchmarks have no migrations.
pub(crate) fn find(dir: &Path) -> Vec<PathBuf> {
    let mut roots = vec![PathBuf::from("src/lib.rs"), PathBuf::from("src/main.rs")];
    roots.extend(named(&fs::read_to_string(dir.join("Cargo.toml")).unwrap_or_default()));
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

/// Every `path = "…"` of `[lib]` and `[[bin]]`. Cargo has read the file before us, so it is sound,
/// and its other contents do not matter here.
fn named(manifest: &str) -> Vec<PathBuf> {
    let mut is_target = false;
    let mut paths = Vec::new();
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            is_target = matches!(line, "[lib]" | "[[bin]]");
        } else if let Some((key, value)) = line.split_once('=')
            && is_target
            && key.trim() == "path"
        {
            let value = value.split('#').next().unwrap_or_default().trim();
            paths.push(PathBuf::from(value.trim_matches(['"', '\''])));
        }
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_may_have_other_paths() {
        let manifest = "[package]\npath = \"no\"\n[lib]\npath = \"lib/flows.rs\" # ours\n\
                        [dependencies]\na = { path = \"no\" }\n[[bin]]\nname = \"x\"\npath='cli.rs'\n";
        assert_eq!(named(manifest), [PathBuf::from("lib/flows.rs"), PathBuf::from("cli.rs")]);
    }
}
