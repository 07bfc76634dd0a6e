//! `pgflow.schemas.json`, which the tests of several flows may write at the same time.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use pgflow_model::StoredSchemas;

use super::SchemaError;

const NAME: &str = "pgflow.schemas.json";

/// The file, which is ours alone as long as this lives.
pub(super) struct SchemaFile {
    dir: PathBuf,
    file: Option<File>,
    pub(super) schemas: StoredSchemas,
}

impl SchemaFile {
    /// Opens it, for reading only where it cannot be written; one that does not exist is empty.
    pub(super) fn open(dir: &Path, is_written: bool) -> Result<Self, SchemaError> {
        let path = dir.join(NAME);
        let mut text = String::new();
        let opened = match open(&path, is_written, &mut text) {
            Err(error) if is_written && is_read_only(&error) => {
                open(&path, false, &mut text).map(|_| None)
            }
            opened => opened.map(|file| file.filter(|_| is_written)),
        };
        match opened {
            Ok(file) => Ok(Self { dir: dir.to_owned(), file, schemas: parse(&text)? }),
            Err(source) => Err(SchemaError::Io { path, source }),
        }
    }

    /// Whether it can be written.
    pub(super) fn is_writable(&self) -> bool {
        self.file.is_some()
    }

    /// What is in the current commit, because only that others may have deployed; what the file says
    /// where git cannot be asked.
    pub(super) fn committed(&self) -> StoredSchemas {
        // It knows the repository, which does not ignore the file.
        let is_asked = self
            .git(&["check-ignore", "--quiet", NAME])
            .is_some_and(|ignored| ignored.status.code() == Some(1));
        if !is_asked {
            return self.schemas.clone();
        }
        let shown = self.git(&["show", &format!("HEAD:./{NAME}")]);
        match shown.filter(|shown| shown.status.success()) {
            // One that cannot be read knows nothing.
            Some(shown) => parse(&String::from_utf8_lossy(&shown.stdout)).unwrap_or_default(),
            None => StoredSchemas::default(),
        }
    }

    pub(super) fn write(&mut self) -> Result<(), SchemaError> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let text = self.schemas.to_string();
        let written = file
            .rewind()
            .and_then(|()| file.set_len(0))
            .and_then(|()| file.write_all(text.as_bytes()));
        written.map_err(|source| SchemaError::Io { path: self.dir.join(NAME), source })
    }

    fn git(&self, args: &[&str]) -> Option<Output> {
        let mut git = Command::new("git");
        for name in pgflow_model::GIT_REPOSITORY {
            git.env_remove(name);
        }
        git.arg("-C").arg(&self.dir).args(args).output().ok()
    }
}

/// Opens and reads a file that no other process is writing.
fn open(path: &Path, is_written: bool, text: &mut String) -> io::Result<Option<File>> {
    let mut options = OpenOptions::new();
    match options.read(true).write(is_written).create(is_written).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        opened => {
            let mut file = opened?;
            file.lock()?;
            file.read_to_string(text)?;
            Ok(Some(file))
        }
    }
}

fn is_read_only(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

fn parse(text: &str) -> Result<StoredSchemas, SchemaError> {
    if text.is_empty() { Ok(StoredSchemas::default()) } else { Ok(text.parse()?) }
}

/// Adds a line in one write, so that those of several tests do not mix.
pub(super) fn append(path: &Path, line: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(format!("{line}\n").as_bytes())
}
