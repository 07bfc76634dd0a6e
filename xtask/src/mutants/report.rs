//! What became of the mutants, for people and for programs.

use std::path::Path;

use serde::Serialize;

use super::error::Error;
use super::mutation::Mutation;

/// How a mutant fared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Fate {
    /// By a test that is there for it.
    Caught,
    /// Only by some other test.
    CaughtElsewhere,
    Survived,
}

impl Fate {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Caught => "caught",
            Self::CaughtElsewhere => "caught elsewhere",
            Self::Survived => "SURVIVED",
        }
    }
}

/// One mutant's line.
#[derive(Debug, Serialize)]
pub(crate) struct Line {
    #[serde(flatten)]
    pub(crate) mutation: Mutation,
    pub(crate) fate: Fate,
    /// The tests that failed.
    pub(crate) caught_by: Vec<String>,
    pub(crate) seconds: f64,
}

impl Line {
    /// The first test that failed, and how many more did.
    pub(crate) fn by(&self) -> String {
        match self.caught_by.as_slice() {
            [] => "nothing".into(),
            [one] => one.clone(),
            [one, more @ ..] => format!("{one} and {} more", more.len()),
        }
    }
}

pub(crate) fn table(lines: &[Line]) -> String {
    let width = lines.iter().map(|line| line.mutation.name.len()).max().unwrap_or(0);
    let row = |line: &Line| {
        let (name, fate) = (line.mutation.name, line.fate.words());
        format!("{name:width$}  {fate:16}  {:6.1} s  {}\n", line.seconds, line.by())
    };
    let count = |fate| lines.iter().filter(|line| line.fate == fate).count();
    let rows: String = lines.iter().map(row).collect();
    format!(
        "\n{rows}\n{} mutants: {} caught, {} caught elsewhere, {} survived\n",
        lines.len(),
        count(Fate::Caught),
        count(Fate::CaughtElsewhere),
        count(Fate::Survived),
    )
}

pub(crate) fn write_json(path: &Path, lines: &[Line]) -> Result<(), Error> {
    let json = serde_json::to_vec_pretty(lines).map_err(std::io::Error::from);
    json.and_then(|json| std::fs::write(path, json)).map_err(|source| Error::io(path, source))
}
