//! The SQL core's own migrations, in the directory of the flows.

use std::path::PathBuf;

use pgflow_runtime::postgres::{Core, EmitError, Format};

use crate::directory::Directory;
use crate::error::Error;
use crate::settings::Migrations;
use crate::style::Style;
use crate::{history, write};

impl Migrations {
    /// Writes the migrations of the SQL core itself that the directory lacks.
    ///
    /// A core that comes after flows is written before them: drafts of flows make room, and are
    /// written again by [`migrate`](Self::migrate).
    pub fn migrate_core(&self) -> Result<Vec<PathBuf>, Error> {
        let directory = self.make_room()?;
        let (core, dir) = (Core::embedded(), self.migrations_dir());
        match directory.first_flow_before_core().filter(|_| self.style != Style::Plain) {
            None => Ok(core.emit(self.format(), &dir)?),
            Some(name) => {
                let number = self.style.number(name).unwrap_or_default();
                core.emit_before(self.format(), &dir, number).map_err(|error| match error {
                    EmitError::NoRoom { needed } => {
                        Error::CoreTooLate { name: name.to_owned(), needed }
                    }
                    other => other.into(),
                })
            }
        }
    }

    /// The directory, without drafts that are in the way of the core.
    fn make_room(&self) -> Result<Directory, Error> {
        let _alone = write::alone(&self.dir);
        let directory = Directory::read(&self.migrations_dir(), self.style)?;
        if directory.first_flow_before_core().is_none() || self.style == Style::Plain {
            return Ok(directory);
        }
        // What makes room is written again only if that is possible.
        let plan = self.plan()?;
        if !plan.problems.is_empty() {
            return Err(Error::Problems(plan.problems));
        }
        let (lock, keeper) = (self.read_lock()?, self.keeper());
        let files: Vec<_> = directory.ours().map(|(name, _)| name.to_owned()).collect();
        let is_kept = |name: &String| keeper.keeps(name, &lock, &directory);
        let kept = files.iter().rposition(is_kept).map_or(0, |at| at + 1);
        let drafts = files[kept..].iter().cloned().collect();
        let rest = directory.without(&drafts);
        let mut before = history::lock(&rest, &lock).map_err(Error::History)?;
        before.drafts = keeper.stamp(&lock, &directory, &rest);
        self.write_lock(&before, false)?;
        for name in &drafts {
            write::remove(&directory.file(name))?;
        }
        Ok(rest)
    }

    fn format(&self) -> Format {
        match self.style {
            Style::Sqlx => Format::Sqlx,
            Style::Refinery => Format::Refinery,
            Style::Plain => Format::Psql,
        }
    }
}
