//! A wrong flow and what the compiler says about it.

use std::fs;
use std::path::{Path, PathBuf};

/// A file in `fail/`.
#[derive(Debug, Clone)]
pub struct Case {
    /// Its name without `.rs`, which says what is wrong.
    pub name: String,
    source: PathBuf,
}

impl Case {
    /// The program.
    ///
    /// # Panics
    /// When it cannot be read.
    pub fn source(&self) -> String {
        fs::read_to_string(&self.source).expect("the case can be read")
    }

    /// Commits to this message.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn accept(&self, said: &str) {
        fs::write(self.source.with_extension("stderr"), said).expect("the message can be written");
    }

    /// The committed message, if there is one.
    pub fn snapshot(&self) -> Option<String> {
        fs::read_to_string(self.source.with_extension("stderr")).ok()
    }
}

/// Every case, by name.
///
/// # Panics
/// When the directory cannot be read.
pub fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = files("rs").into_iter().map(case).collect();
    cases.sort_by(|one, other| one.name.cmp(&other.name));
    assert!(!cases.is_empty(), "no cases found in {}", directory().display());
    cases
}

/// Snapshots whose case is gone.
///
/// # Panics
/// When the directory cannot be read.
pub fn orphans() -> Vec<PathBuf> {
    files("stderr").into_iter().filter(|file| !file.with_extension("rs").exists()).collect()
}

fn case(source: PathBuf) -> Case {
    let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Case { name, source }
}

fn files(extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory()).expect("tests/ui/fail can be read");
    let paths = entries.map(|entry| entry.expect("its entries can be read").path());
    paths.filter(|path| path.extension().is_some_and(|found| found == extension)).collect()
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fail")
}
