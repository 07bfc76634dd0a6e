//! A part of the core that goes into one file of a sequence.

use crate::migrate::bookkeeping;
use crate::migrate::core::Core;
use crate::migrate::file::{SqlFile, checksum};

/// A numbered file, or all repeatable ones together.
pub(super) struct Unit<'a> {
    /// `0001_schema`, or `functions`.
    pub(super) name: String,
    files: Vec<&'a SqlFile>,
}

/// All units, in the order in which they are applied.
pub(super) fn units(core: &Core) -> Vec<Unit<'_>> {
    let numbered =
        core.numbered.iter().map(|file| Unit { name: file.name.clone(), files: vec![file] });
    let repeatable = Unit { name: "functions".into(), files: core.repeatable().collect() };
    numbered.chain([repeatable]).collect()
}

impl Unit<'_> {
    /// What the file is called: its number belongs to us, not to the sequence it joins.
    pub(super) fn title(&self) -> String {
        format!("pgflow_{}", self.name.trim_start_matches(|c: char| c.is_ascii_digit() || c == '_'))
    }

    pub(super) fn is_repeatable(&self) -> bool {
        self.files.iter().all(|file| file.version().is_none())
    }

    pub(super) fn checksum(&self) -> String {
        checksum(&self.files.iter().map(|file| &*file.checksum).collect::<Vec<_>>().join("\n"))
    }

    /// The files, each under its name, and the record of them.
    pub(super) fn sql(&self) -> String {
        let record =
            (!self.files.is_empty()).then(|| bookkeeping::record_files(self.files.iter().copied()));
        let files = self.files.iter().map(|file| section(file));
        files.chain(record).collect::<Vec<_>>().join("\n")
    }
}

pub(super) fn section(file: &SqlFile) -> String {
    format!("-- {}\n{}\n", file.name, file.sql.trim_end())
}
