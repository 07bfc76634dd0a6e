//! A temporary copy of what is tested, so that neither edits nor builds meanwhile change it.

use std::path::{Path, PathBuf};

use super::error::Error;
use super::mutation::Mutation;

/// A copy of the core; it goes away with this value.
pub(crate) struct Workplace {
    dir: PathBuf,
}

impl Workplace {
    pub(crate) fn new() -> Result<Self, Error> {
        let dir = std::env::temp_dir().join(format!("pgflow-mutants-{}", std::process::id()));
        let workplace = Self { dir };
        copy(&source(), &workplace.core())?;
        Ok(workplace)
    }

    /// The core that tests install.
    pub(crate) fn core(&self) -> PathBuf {
        self.dir.join("core")
    }

    /// Where a test run leaves what it says.
    pub(crate) fn log(&self) -> PathBuf {
        self.dir.join("log")
    }

    /// The test binary under a name that no build touches.
    pub(crate) fn keep_binary(&self, built: &Path) -> Result<PathBuf, Error> {
        let kept = self.dir.join("sql-tests");
        std::fs::hard_link(built, &kept)
            .or_else(|_| std::fs::copy(built, &kept).map(drop))
            .map_err(|source| Error::io(&kept, source))?;
        Ok(kept)
    }

    /// Calls `with` while the core is mutated, and puts the core right again.
    pub(crate) fn mutated<T>(
        &self,
        mutation: &Mutation,
        with: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mutated = mutation.apply(&self.core())?;
        let path = mutation.path(&self.core());
        let original = std::fs::read(&path).map_err(|source| Error::io(&path, source))?;
        std::fs::write(&path, mutated).map_err(|source| Error::io(&path, source))?;
        let result = with();
        std::fs::write(&path, original).map_err(|source| Error::io(&path, source))?;
        result
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// The core in the working tree.
pub(crate) fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../migrations/postgres")
}

fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(to).map_err(|source| Error::io(to, source))?;
    for entry in from.read_dir().map_err(|source| Error::io(from, source))? {
        let path = entry.map_err(|source| Error::io(from, source))?.path();
        let target = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy(&path, &target)?;
        } else {
            std::fs::copy(&path, &target).map_err(|source| Error::io(&path, source))?;
        }
    }
    Ok(())
}
