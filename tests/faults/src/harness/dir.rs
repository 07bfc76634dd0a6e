//! A directory for one experiment.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A directory that goes away again.
#[derive(Debug)]
pub struct Dir(PathBuf);

impl Dir {
    /// A new one, on disk.
    pub fn new(id: &str) -> std::io::Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("pgflow-faults-{}-{number}-{id}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path)?;
        Ok(Self(path))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        // What can't be removed is among the temporary files, where nobody minds.
        _ = std::fs::remove_dir_all(&self.0);
    }
}
