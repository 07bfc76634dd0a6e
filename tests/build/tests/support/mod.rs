//! A crate of a test's own, to be edited and read.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use pgflow_build::Migrations;

/// A crate in a directory that goes away with it.
pub(crate) struct Scratch {
    pub(crate) dir: PathBuf,
}

impl Scratch {
    /// With these files.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let scratch = Self { dir: Path::new(env!("CARGO_TARGET_TMPDIR")).join(name) };
        scratch.write("Cargo.toml", "[package]\nname = \"scratch\"\n");
        for (path, text) in files {
            scratch.write(path, text);
        }
        scratch
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.dir.join(path);
        fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        fs::write(path, text).expect("a written file");
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.dir.join(path)).unwrap_or_else(|why| panic!("{path}: {why}"))
    }

    pub(crate) fn migrations(&self) -> Migrations {
        pgflow_build::migrations("migrations").in_crate(&self.dir)
    }

    /// Writes what is missing and returns the names of the files.
    pub(crate) fn migrate(&self) -> Vec<String> {
        let written = self.migrations().migrate().unwrap_or_else(|why| panic!("{why}"));
        written.iter().map(|path| name(path)).collect()
    }

    /// Every migration, by name.
    pub(crate) fn files(&self) -> BTreeMap<String, String> {
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
