//! A temporary directory for SQL files.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use pgflow_runtime::postgres::Core;

/// Deleted when dropped.
#[derive(Debug)]
pub struct Directory(PathBuf);

impl Directory {
    /// With nothing in it.
    ///
    /// # Panics
    /// When it cannot be made.
    pub fn empty() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("pgflow-install-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// With the files of our core, for tests that change some.
    ///
    /// # Panics
    /// When they cannot be copied.
    pub fn with_core() -> Self {
        let copy = Self::empty();
        for part in ["functions", "after"] {
            std::fs::create_dir_all(copy.0.join(part)).unwrap();
        }
        for (name, sql) in pgflow_test_support::core().files() {
            copy.write(&format!("{name}.sql"), sql);
        }
        copy
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).unwrap();
    }

    /// Adds to a file.
    ///
    /// # Panics
    /// When it is not there.
    pub fn append(&self, name: &str, text: &str) {
        let old = std::fs::read_to_string(self.0.join(name)).unwrap();
        self.write(name, &(old + text));
    }

    /// Its files as a core.
    ///
    /// # Panics
    /// When they are none.
    pub fn core(&self) -> Core {
        Core::from_dir(&self.0).unwrap()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
