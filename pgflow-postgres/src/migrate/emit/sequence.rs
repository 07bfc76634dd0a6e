//! Files that a tool applies once each, in the order of their numbers.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::unit::{Unit, units};
use super::{HEADER, io, refuse, write};
use crate::migrate::bookkeeping::{self, CREATE, SCHEMA, SETTINGS};
use crate::migrate::core::Core;
use crate::migrate::error::EmitError;

const PGMQ_IS_READY: &str = include_str!("../sql/pgmq_is_ready.sql");

/// How a tool names its files.
pub(super) struct Naming {
    name: fn(u64, &str) -> String,
    number: fn(&str) -> Option<u64>,
}

pub(super) const SQLX: Naming = Naming {
    name: |number, title| format!("{number:04}_{title}.sql"),
    number: |name| name.split_once('_')?.0.parse().ok(),
};

pub(super) const REFINERY: Naming = Naming {
    name: |number, title| format!("V{number}__{title}.sql"),
    number: |name| name.strip_prefix(['V', 'U'])?.split_once("__")?.0.parse().ok(),
};

/// Starts the line that says what a file holds.
const MARK: &str = "-- pgflow unit: ";

/// Numbers what is missing after everything that is there, or between that and a number that has to
/// come later.
pub(super) fn emit(
    core: &Core,
    dir: &Path,
    naming: &Naming,
    before: Option<u64>,
) -> Result<Vec<PathBuf>, EmitError> {
    let existing = Existing::read(dir, naming)?;
    let mut missing = Vec::new();
    for unit in units(core) {
        if existing.lacks(&unit)? {
            missing.push(unit);
        }
    }
    let first = existing.last_below(before) + 1;
    let needed = first + missing.len() as u64;
    if before.is_some_and(|before| needed > before) {
        return Err(EmitError::NoRoom { needed });
    }
    let write = |(number, unit): (u64, Unit<'_>)| {
        write(dir.join((naming.name)(number, &unit.title())), &text(core, &unit))
    };
    (first..).zip(missing).map(write).collect()
}

/// The tool brings the transaction, so settings are put back before it goes on.
fn text(core: &Core, unit: &Unit<'_>) -> String {
    format!(
        "{MARK}{} {}\n{HEADER}\n{SETTINGS};\n{PGMQ_IS_READY}\n{SCHEMA}\n{}\n{CREATE}\n{}\n{}\n{}\n{}\n\
         set local check_function_bodies to default;\n",
        unit.name,
        unit.checksum(),
        refuse::strangers(),
        refuse::statement(core),
        bookkeeping::mark_users_indexes(),
        unit.sql(),
        bookkeeping::record_objects()
    )
}

/// What a directory holds already.
struct Existing {
    numbers: Vec<u64>,
    /// Unit to checksum and file; the last file of a repeatable unit counts.
    units: HashMap<String, (String, PathBuf)>,
}

impl Existing {
    fn read(dir: &Path, naming: &Naming) -> Result<Self, EmitError> {
        let mut files = Vec::new();
        for entry in dir.read_dir().map_err(|source| io(dir, source))? {
            let path = entry.map_err(|source| io(dir, source))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            files.extend((naming.number)(&name).map(|number| (number, path)));
        }
        files.sort();
        let numbers = files.iter().map(|(number, _)| *number).collect();
        let mut units = HashMap::new();
        for (_, path) in files.into_iter().filter(|(_, path)| path.is_file()) {
            let text = std::fs::read_to_string(&path).map_err(|source| io(&path, source))?;
            if let Some((unit, checksum)) = mark(&text) {
                units.insert(unit, (checksum, path));
            }
        }
        Ok(Self { numbers, units })
    }

    /// The last number that is taken, below a limit.
    fn last_below(&self, limit: Option<u64>) -> u64 {
        let below = self.numbers.iter().filter(|number| limit.is_none_or(|limit| **number < limit));
        below.max().copied().unwrap_or(0)
    }

    fn lacks(&self, unit: &Unit<'_>) -> Result<bool, EmitError> {
        match self.units.get(&unit.name) {
            None => Ok(true),
            Some((checksum, _)) if *checksum == unit.checksum() => Ok(false),
            Some(_) if unit.is_repeatable() => Ok(true),
            Some((_, path)) => {
                Err(EmitError::Changed { path: path.clone(), unit: unit.name.clone() })
            }
        }
    }
}

fn mark(text: &str) -> Option<(String, String)> {
    let (unit, checksum) = text.lines().next()?.strip_prefix(MARK)?.split_once(' ')?;
    Some((unit.into(), checksum.into()))
}
