//! What cargo watches for a build script.

use std::path::{Path, PathBuf};

/// The file, or the directory that it would be in: cargo runs a script again and again that asks for
/// a file that is not there, which a module under a `cfg` need not be.
pub(crate) fn existing(dir: &Path, file: &Path) -> PathBuf {
    let exists = |path: &&Path| path.as_os_str().is_empty() || dir.join(path).exists();
    let found = file.ancestors().find(exists).unwrap_or(file);
    if found.as_os_str().is_empty() { PathBuf::from(".") } else { found.to_owned() }
}
