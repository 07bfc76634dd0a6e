//! What tests need, one line each.

use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::places::directory_with;

/// Something that tests find on the machine.
#[derive(Debug)]
pub struct Need {
    /// What a person calls it.
    pub what: &'static str,
    /// Its programs; those of one group are in one directory.
    groups: &'static [&'static [&'static str]],
    /// Debian's package.
    pub(crate) package: &'static str,
}

/// The server, and what makes and starts a cluster.
pub const POSTGRES: Need =
    Need::new("Postgres server", &[&["postgres", "initdb", "pg_ctl"]], "postgresql");
/// The pooler.
pub const PGBOUNCER: Need = Need::new("PgBouncer", &[&["pgbouncer"]], "pgbouncer");
/// The server, and what makes its first tables.
pub const MARIADB: Need =
    Need::new("MariaDB server", &[&["mariadbd"], &["mariadb-install-db"]], "mariadb-server");

/// For revisions of sources.
pub const GIT: Need = Need::new("git", &[&["git"]], "git");

/// The browser.
pub const CHROMIUM: Need = Need::new("Chromium", &[&["chromium"]], "chromium");
/// What drives it.
pub const CHROMEDRIVER: Need = Need::new("ChromeDriver", &[&["chromedriver"]], "chromium-driver");

/// A terminal for programs that want one.
pub const TMUX: Need = Need::new("tmux", &[&["tmux"]], "tmux");

/// All of them: what `cargo xtask provision` installs.
pub const NEEDS: &[Need] = &[POSTGRES, PGBOUNCER, MARIADB, GIT, CHROMIUM, CHROMEDRIVER, TMUX];

impl Need {
    const fn new(
        what: &'static str,
        groups: &'static [&'static [&'static str]],
        package: &'static str,
    ) -> Self {
        Self { what, groups, package }
    }

    /// Where its programs are, a directory for each group; without them, an error that names the command
    /// that installs them.
    pub fn directories(&self) -> Result<Vec<PathBuf>> {
        let found: Option<_> = self.groups.iter().map(|group| directory_with(group)).collect();
        found.ok_or_else(|| {
            let help = "`cargo xtask provision` installs what the tests need".into();
            Error::Missing { what: self.what.into(), help }
        })
    }

    pub(crate) fn is_missing(&self) -> bool {
        self.directories().is_err()
    }

    /// For those who install it by hand.
    pub(crate) fn description(&self) -> String {
        format!("{} ({})", self.what, self.groups.concat().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ABSENT: Need = Need::new("Frobnicator", &[&["sh"], &["frobnicate"]], "frob");

    #[test]
    fn whoever_misses_something_is_told_what_to_type() {
        let error = ABSENT.directories().unwrap_err().to_string();
        assert!(error.contains("no Frobnicator") && error.contains("`cargo xtask provision`"));
        assert!(ABSENT.is_missing());
        assert_eq!(ABSENT.description(), "Frobnicator (sh, frobnicate)");
    }

    #[test]
    fn a_directory_for_each_group() {
        let shell = Need::new("shell", &[&["sh", "ls"], &["cat"]], "coreutils");
        let found = shell.directories().unwrap();
        assert!(
            found.len() == 2 && found[0].join("ls").is_file() && found[1].join("cat").is_file()
        );
    }
}
