//! A crate with one file that depends on `pgflow`, written where tests may write.

use std::fs;
use std::path::{Path, PathBuf};

/// A crate below a scratch directory.
///
/// All crates of one directory share its `target`, or each would build every dependency. Their names
/// must differ: cargo tells them apart by name there.
#[derive(Debug, Clone)]
pub struct Scratch {
    /// Where its `Cargo.toml` is.
    pub root: PathBuf,
    /// Its only source file.
    pub file: PathBuf,
    /// The target directory it shares.
    pub target: PathBuf,
}

impl Scratch {
    /// Writes the crate `name` below `directory`.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn write(directory: &Path, name: &str, text: &str) -> Self {
        let root = directory.join(name);
        let file = root.join("src/lib.rs");
        fs::create_dir_all(root.join("src")).expect("the crate can be written");
        fs::write(root.join("Cargo.toml"), manifest(name)).expect("the crate can be written");
        let lock = repository().join("Cargo.lock");
        fs::copy(lock, root.join("Cargo.lock")).expect("the workspace has a Cargo.lock");
        fs::write(&file, text).expect("the crate can be written");
        Self { root, file, target: directory.join("target") }
    }
}

pub(crate) fn manifest(name: &str) -> String {
    let pgflow = repository().join("pgflow");
    let pgflow = pgflow.display();
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [dependencies]\npgflow = {{ path = \"{pgflow}\" }}\n\
         schemars = \"1\"\nserde = {{ version = \"1\", features = [\"derive\"] }}\n\n\
         # Nothing here is compiled a second time.\n[profile.dev]\nincremental = false\n\n[workspace]\n"
    )
}

fn repository() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the repository is there")
}
