//! All SQL files of the core.

use std::path::{Path, PathBuf};

use pgflow_migrations::postgres::{AFTER, FUNCTIONS, NUMBERED};

use super::error::MigrateError;
use super::file::SqlFile;

/// The SQL core as files: those this library embeds, or those of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Core {
    pub(super) numbered: Vec<SqlFile>,
    pub(super) functions: Vec<SqlFile>,
    pub(super) after: Vec<SqlFile>,
}

impl Core {
    /// The core that this version of the library belongs to.
    pub fn embedded() -> Self {
        let files = |prefix: &'static str, list: &'static [(&str, &'static str)]| {
            let file = move |(stem, sql): &(&str, &'static str)| {
                SqlFile::new(format!("{prefix}{stem}"), *sql)
            };
            list.iter().map(file).collect()
        };
        Self {
            numbered: files("", NUMBERED),
            functions: files("functions/", FUNCTIONS),
            after: files("after/", AFTER),
        }
    }

    /// A core from a directory laid out like `migrations/postgres`, for work on the SQL itself.
    pub fn from_dir(dir: &Path) -> Result<Self, MigrateError> {
        let files = |prefix: &str| {
            read_dir(dir, prefix).map_err(|source| MigrateError::Read { dir: dir.into(), source })
        };
        let core =
            Self { numbered: files("")?, functions: files("functions/")?, after: files("after/")? };
        if core.numbered.is_empty() {
            return Err(MigrateError::NothingThere { dir: dir.into() });
        }
        Ok(core)
    }

    /// All files in the order in which they are applied: the name and the text. The name of a
    /// function has no folder, so that a database need not know when a file is moved.
    ///
    /// ```
    /// let core = pgflow_postgres::Core::embedded();
    /// assert!(core.files().any(|(name, _)| name == "functions/start_flow"));
    /// ```
    pub fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.numbered.iter().chain(self.repeatable()).map(|file| (&*file.name, &*file.sql))
    }

    /// Applied at every change, in this order.
    pub(super) fn repeatable(&self) -> impl Iterator<Item = &SqlFile> {
        self.functions.iter().chain(&self.after)
    }

    /// The number of the last numbered file.
    pub fn version(&self) -> i32 {
        self.numbered.iter().filter_map(SqlFile::version).max().unwrap_or(0)
    }
}

fn read_dir(root: &Path, prefix: &str) -> std::io::Result<Vec<SqlFile>> {
    let dir = root.join(prefix);
    if !prefix.is_empty() && !dir.is_dir() {
        return Ok(Vec::new());
    }
    let mut files = Vec::new();
    for path in sql_files(&dir, !prefix.is_empty())? {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        files.push(SqlFile::new(format!("{prefix}{stem}"), std::fs::read_to_string(&path)?));
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(files)
}

/// Folders are for readers: no file is named after the one it lies in.
fn sql_files(dir: &Path, with_folders: bool) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in dir.read_dir()? {
        let path = entry?.path();
        if path.is_dir() && with_folders {
            files.extend(sql_files(&path, false)?);
        } else if path.extension().is_some_and(|kind| kind == "sql") {
            files.push(path);
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::{Core, SqlFile};
    use std::path::Path;

    #[test]
    fn what_is_embedded_is_what_lies_in_the_directory() {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../migrations/postgres");
        assert_eq!(Core::embedded(), Core::from_dir(&dir).unwrap());
    }

    #[test]
    fn numbered_files_have_numbers_and_no_number_twice() {
        let core = Core::embedded();
        let numbers: Vec<_> = core.numbered.iter().map(SqlFile::version).collect();
        let expected: Vec<_> = (1..).take(numbers.len()).map(Some).collect();
        assert_eq!(numbers, expected);
    }
}
