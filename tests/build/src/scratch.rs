//! A crate of a test's own, to be edited and read.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use pgflow_build::Migrations;

/// A crate in a directory that goes away with it.
///
/// Its methods panic where a test should fail.
#[derive(Debug)]
pub struct Scratch {
    /// The directory.
    pub dir: PathBuf,
}

#[expect(clippy::missing_panics_doc, reason = "that is what a test wants")]
impl Scratch {
    /// With these files.
    pub fn new(files: &[(&str, &str)]) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "pgflow-build-{}-{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        let scratch = Self { dir: std::env::temp_dir().join(name) };
        scratch.write("Cargo.toml", "[package]\nname = \"scratch\"\n");
        for (path, text) in files {
            scratch.write(path, text);
        }
        scratch
    }

    /// Writes a file, below the crate.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.dir.join(path);
        fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        fs::write(path, text).expect("a written file");
    }

    /// Removes a file, below the crate.
    pub fn remove(&self, path: &str) {
        fs::remove_file(self.dir.join(path)).unwrap_or_else(|why| panic!("{path}: {why}"));
    }

    /// Reads a file, below the crate.
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.dir.join(path)).unwrap_or_else(|why| panic!("{path}: {why}"))
    }

    /// Its migrations.
    pub fn migrations(&self) -> Migrations {
        pgflow_build::migrations("migrations").in_crate(&self.dir)
    }

    /// Writes what is missing, as a commit would have it, and returns the names of the files.
    pub fn migrate(&self) -> Vec<String> {
        let written = self.draft();
        self.migrations().keep().unwrap_or_else(|why| panic!("{why}"));
        written
    }

    /// Writes what is missing, as a build does, and returns the names of the files.
    pub fn draft(&self) -> Vec<String> {
        let written = self.migrations().migrate().unwrap_or_else(|why| panic!("{why}"));
        written.iter().map(|path| name(path)).collect()
    }

    /// Every migration, by name.
    pub fn files(&self) -> BTreeMap<String, String> {
        let entries = fs::read_dir(self.dir.join("migrations")).into_iter().flatten().flatten();
        entries.map(|e| (name(&e.path()), fs::read_to_string(e.path()).expect("a file"))).collect()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}

fn name(path: &Path) -> String {
    path.file_name().expect("a name").to_string_lossy().into_owned()
}
