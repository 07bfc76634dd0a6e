//! A temporary copy of what is tested, so that neither edits nor builds meanwhile change it.

use std::path::{Path, PathBuf};

use super::error::Error;
use super::mutation::Mutation;

/// A copy of some directories; it goes away with this value.
pub(crate) struct Workplace {
    dir: PathBuf,
}

impl Workplace {
    /// With copies of these.
    pub(crate) fn new(name: &str, sources: &[PathBuf]) -> Result<Self, Error> {
        let name = format!("pgflow-mutants-{name}-{}", std::process::id());
        let workplace = Self { dir: std::env::temp_dir().join(name) };
        for source in sources {
            let target = workplace.copy().join(source.file_name().unwrap_or_default());
            copy(source, &target)?;
        }
        Ok(workplace)
    }

    /// Where the copies are.
    pub(crate) fn copy(&self) -> PathBuf {
        self.dir.join("copy")
    }

    /// Puts a file beside the copies.
    pub(crate) fn add(&self, name: &str, text: &str) -> Result<(), Error> {
        let path = self.copy().join(name);
        std::fs::write(&path, text).map_err(|source| Error::io(&path, source))
    }

    /// Where a test run leaves what it says.
    pub(crate) fn log(&self) -> PathBuf {
        self.dir.join("log")
    }

    /// The test binary under a name that no build touches.
    pub(crate) fn keep_binary(&self, built: &Path) -> Result<PathBuf, Error> {
        let kept = self.kept_binary();
        std::fs::hard_link(built, &kept)
            .or_else(|_| std::fs::copy(built, &kept).map(drop))
            .map_err(|source| Error::io(&kept, source))?;
        Ok(kept)
    }

    /// Where that is.
    pub(crate) fn kept_binary(&self) -> PathBuf {
        self.dir.join("tests")
    }

    /// Calls `with` while the copy is mutated, and puts it right again.
    pub(crate) fn mutated<T>(
        root: &Path,
        mutation: &Mutation,
        with: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mutated = mutation.apply(root)?;
        let path = mutation.path(root);
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
