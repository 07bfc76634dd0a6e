//! The directory that migrations are in.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::{Doing, Error};
use crate::style::Style;

/// Starts the first line of every file of ours; the flow and version follow.
pub(crate) const MARK: &str = "-- pgflow flow: ";

/// The migrations that are there.
#[derive(Debug)]
pub(crate) struct Directory {
    path: PathBuf,
    style: Style,
    /// Names and, of our own files, contents; in the order in which they are applied.
    files: Vec<(String, Option<String>)>,
}

impl Directory {
    /// Reads it; one that does not exist is empty.
    pub(crate) fn read(path: &Path, style: Style) -> Result<Self, Error> {
        let mut files = Vec::new();
        let entries = match fs::read_dir(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            entries => Some(entries.doing("read", path)?),
        };
        for entry in entries.into_iter().flatten() {
            let entry = entry.doing("read", path)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.path().is_file() && style.number(&name).is_some() {
                let bytes = fs::read(entry.path()).doing("read", &entry.path())?;
                files.push((name, ours(&bytes)));
            }
        }
        files.sort_by_cached_key(|(name, _)| (style.number(name), name.clone()));
        Ok(Self { path: path.to_owned(), style, files })
    }

    /// The files that are ours.
    pub(crate) fn ours(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|(name, text)| Some((&**name, text.as_deref()?)))
    }

    /// The last file of ours about this flow: its name and contents.
    pub(crate) fn last_about(&self, flow: &str) -> Option<(&str, &str)> {
        let is_about = |text: &str| {
            let mark = text.lines().next().and_then(|line| line.strip_prefix(MARK));
            mark.and_then(|words| words.split(' ').next()) == Some(flow)
        };
        self.ours().filter(|(_, text)| is_about(text)).last()
    }

    /// The contents of a file of ours.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.ours().find(|(known, _)| *known == name).map(|(_, text)| text)
    }

    /// The last file of ours with this checksum.
    pub(crate) fn find(&self, wanted: &str) -> Option<&str> {
        self.ours().filter(|(_, text)| checksum(text) == wanted).last().map(|(name, _)| name)
    }

    /// Files of one number, one of which is ours.
    pub(crate) fn same_numbers(&self) -> Vec<(&str, &str)> {
        let is_same = |two: &&[(String, Option<String>)]| {
            self.style.number(&two[0].0) == self.style.number(&two[1].0)
                && two.iter().any(|(_, text)| text.is_some())
        };
        let pairs = self.files.windows(2).filter(is_same);
        pairs.map(|two| (&*two[0].0, &*two[1].0)).collect()
    }

    /// Adds a file about a flow after all others, unless the last one about it is the very same:
    /// then somebody was stopped between writing it and writing the lock. Returns its name, and
    /// whether it is new.
    pub(crate) fn add(&mut self, flow: &str, title: &str, text: &str) -> (String, bool) {
        if let Some((name, _)) = self.last_about(flow).filter(|(_, last)| *last == text) {
            return (name.to_owned(), false);
        }
        let last = self.files.last().map(|(name, _)| name.as_str()).unwrap_or_default();
        let number = self.style.number(last).unwrap_or(0) + 1;
        let digits = self.style.digits(last).max(4);
        let name = self.style.file_name(number, digits, title);
        self.files.push((name.clone(), Some(text.to_owned())));
        (name, true)
    }

    /// Where a file is.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

/// The text of a file, if it is ours; the same however a checkout ends its lines.
fn ours(bytes: &[u8]) -> Option<String> {
    let text = bytes.starts_with(MARK.as_bytes()).then(|| std::str::from_utf8(bytes))?;
    Some(text.ok()?.replace("\r\n", "\n"))
}

/// SHA-256 in hex.
pub(crate) fn checksum(text: &str) -> String {
    let digest = Sha256::digest(text);
    digest.iter().fold(String::with_capacity(64), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(style: Style, names: &[&str]) -> Directory {
        let names = names.iter().filter(|name| style.number(name).is_some());
        let mut files: Vec<_> = names.map(|name| ((*name).to_owned(), None)).collect();
        files.sort_by_key(|(name, _)| style.number(name));
        Directory { path: PathBuf::new(), style, files }
    }

    #[test]
    fn names_sort_after_those_that_are_there() {
        for (style, names, next) in [
            (Style::Sqlx, &[][..], "0001_a.sql"),
            (Style::Sqlx, &["0009_users.sql"], "0010_a.sql"),
            (Style::Sqlx, &["1_users.sql"], "0002_a.sql"),
            (Style::Sqlx, &["20260101120000_users.sql"], "20260101120001_a.sql"),
            (Style::Refinery, &["V1__users.sql", "V12__more.sql"], "V13__a.sql"),
            (Style::Refinery, &["V20__code.rs", "V3__users.sql"], "V21__a.sql"),
            (Style::Plain, &["000123_users.sql"], "000124_a.sql"),
            (Style::Sqlx, &["99999999999999999999_no_number.sql"], "0001_a.sql"),
        ] {
            assert_eq!(with(style, names).add("f", "a", "").0, next);
        }
    }

    #[test]
    fn a_file_that_is_there_already_is_taken_over() {
        let mut directory = with(Style::Sqlx, &[]);
        let (same, other) = (format!("{MARK}f v1\n1"), format!("{MARK}f v1\n2"));
        assert_eq!(directory.add("f", "a", &same), ("0001_a.sql".to_owned(), true));
        assert_eq!(directory.add("f", "a", &same), ("0001_a.sql".to_owned(), false));
        assert_eq!(directory.add("f", "a", &other), ("0002_a.sql".to_owned(), true));
        assert_eq!(directory.add("f", "a", &same), ("0003_a.sql".to_owned(), true));
    }
}
