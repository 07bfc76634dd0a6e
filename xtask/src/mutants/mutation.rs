//! One change that a test has to notice.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::error::Error;

/// A mutation replaces one piece of text in one file.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Mutation {
    /// What `--only` takes.
    pub(crate) name: &'static str,
    /// In the copy. The core's functions without their folder: `functions/heartbeat.sql`.
    pub(crate) file: &'static str,
    /// Stands exactly once in the file.
    pub(crate) find: &'static str,
    pub(crate) replace: &'static str,
    /// What goes wrong for users.
    pub(crate) why: &'static str,
    /// Filters for the test binaries: the tests that are there to catch this.
    pub(crate) tests: &'static [&'static str],
}

impl Mutation {
    /// The mutated text of its file.
    pub(crate) fn apply(&self, root: &Path) -> Result<String, Error> {
        let path = self.path(root);
        let text = std::fs::read_to_string(&path).map_err(|source| Error::io(&path, source))?;
        match text.matches(self.find).count() {
            1 => Ok(text.replacen(self.find, self.replace, 1)),
            found => Err(Error::Stale { name: self.name, file: self.file, found }),
        }
    }

    /// Where its file is: a function of the core may be moved to another folder without being renamed.
    pub(crate) fn path(&self, root: &Path) -> PathBuf {
        let named = root.join(self.file);
        if named.is_file() {
            return named;
        }
        let (Some(dir), Some(name)) = (named.parent(), named.file_name()) else { return named };
        let folders = dir.read_dir().into_iter().flatten().flatten();
        let filed = folders.map(|folder| folder.path().join(name)).find(|path| path.is_file());
        filed.unwrap_or(named)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MUTATION: Mutation = Mutation {
        name: "m",
        file: "f.sql",
        find: "order by id",
        replace: "",
        why: "",
        tests: &[],
    };

    fn applied_to(sql: &str) -> Result<String, Error> {
        applied_in("", sql)
    }

    fn applied_in(folder: &str, sql: &str) -> Result<String, Error> {
        let name = format!("pgflow-mutation-{}-{folder}{}", std::process::id(), sql.len());
        let dir = std::env::temp_dir().join(name);
        std::fs::create_dir_all(dir.join(folder)).unwrap();
        std::fs::write(dir.join(folder).join("f.sql"), sql).unwrap();
        let result = MUTATION.apply(&dir);
        std::fs::remove_dir_all(&dir).unwrap();
        result
    }

    #[test]
    fn the_text_is_replaced() {
        assert_eq!(applied_to("select 1 order by id;").unwrap(), "select 1 ;");
    }

    #[test]
    fn the_file_may_lie_in_a_folder() {
        assert_eq!(applied_in("settle", "select 1 order by id;").unwrap(), "select 1 ;");
    }

    #[test]
    fn text_that_is_gone_is_an_error() {
        let error = applied_to("select 1;").unwrap_err();
        assert!(matches!(error, Error::Stale { found: 0, .. }), "{error}");
    }

    #[test]
    fn text_that_is_there_twice_is_an_error() {
        let error = applied_to("select 1 order by id, order by id").unwrap_err();
        assert!(matches!(error, Error::Stale { found: 2, .. }), "{error}");
    }
}
