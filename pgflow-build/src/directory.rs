//! The directory that migrations are in.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::{Doing, Error};
use crate::style::Style;

/// Starts the first line of every file of ours; the flow and version follow.
pub(crate) const MARK: &str = "-- pgflow flow: ";

/// Starts the first line of every file of the SQL core.
const CORE: &str = "-- pgflow unit: ";

/// The migrations that are there.
#[derive(Clone, Debug)]
pub(crate) struct Directory {
    path: PathBuf,
    style: Style,
    /// Names and, of our own files, contents; in the order in which they are applied.
    files: Vec<(String, Option<String>)>,
    /// The first file of the SQL core, if it is here too.
    core: Option<String>,
    /// Drafts that were taken out: their flows, names and contents.
    drafts: Vec<(String, String, String)>,
}

impl Directory {
    /// Reads it; one that does not exist is empty.
    pub(crate) fn read(path: &Path, style: Style) -> Result<Self, Error> {
        let (mut files, mut core) = (Vec::new(), Vec::new());
        let entries = match fs::read_dir(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            entries => Some(entries.doing("read", path)?),
        };
        for entry in entries.into_iter().flatten() {
            let entry = entry.doing("read", path)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.path().is_file() && style.number(&name).is_some() {
                let bytes = fs::read(entry.path()).doing("read", &entry.path())?;
                core.extend(bytes.starts_with(CORE.as_bytes()).then(|| name.clone()));
                files.push((name, ours(&bytes)));
            }
        }
        files.sort_by_cached_key(|(name, _)| (style.number(name), name.clone()));
        let core = core.into_iter().min_by_key(|name| style.number(name));
        Ok(Self { path: path.to_owned(), style, files, core, drafts: Vec::new() })
    }

    /// The first file about a flow, if no file of the core comes before it.
    #[cfg(feature = "core")]
    pub(crate) fn first_flow_before_core(&self) -> Option<&str> {
        let core = self.core.as_deref().and_then(|core| self.style.number(core));
        let (name, _) = self.ours().next()?;
        core.is_none_or(|core| self.style.number(name) < Some(core)).then_some(name)
    }

    /// The first file of the core and the first one about a flow, if they are in the wrong order.
    pub(crate) fn late_core(&self) -> Option<(&str, &str)> {
        let (core, (flow, _)) = (self.core.as_deref()?, self.ours().next()?);
        (self.style.number(flow) < self.style.number(core)).then_some((core, flow))
    }

    /// The files that are ours.
    pub(crate) fn ours(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|(name, text)| Some((&**name, text.as_deref()?)))
    }

    /// The last file of ours about this flow: its name and contents.
    pub(crate) fn last_about(&self, flow: &str) -> Option<(&str, &str)> {
        self.ours().filter(|(_, text)| flow_of(text) == Some(flow)).last()
    }

    /// The files of ours about a flow that come after that one.
    pub(crate) fn after(&self, file: &str, flow: &str) -> impl Iterator<Item = &str> {
        let later = self.ours().skip_while(move |(name, _)| *name != file).skip(1);
        later.filter(move |(_, text)| flow_of(text) == Some(flow)).map(|(name, _)| name)
    }

    /// Whether a file deletes a flow, which is never written without being asked for.
    pub(crate) fn is_drop(&self, file: &str) -> bool {
        self.get(file).is_some_and(is_drop)
    }

    /// Flows that files delete, and those files.
    pub(crate) fn drops(&self) -> Vec<(String, String)> {
        let drop = |(name, text): (&str, &str)| {
            is_drop(text).then_some(())?;
            Some((flow_of(text)?.to_owned(), name.to_owned()))
        };
        self.ours().filter_map(drop).collect()
    }

    /// The flows that files are about, and the first file about each.
    pub(crate) fn flows(&self) -> BTreeMap<&str, &str> {
        let mut flows = BTreeMap::new();
        for (name, text) in self.ours() {
            flow_of(text).map(|flow| *flows.entry(flow).or_insert(name));
        }
        flows
    }

    /// The style of its names.
    pub(crate) fn style(&self) -> Style {
        self.style
    }

    /// The last file of ours that is wanted.
    pub(crate) fn last(&self, is_wanted: impl Fn(&str) -> bool) -> Option<String> {
        self.ours().map(|(name, _)| name).filter(|name| is_wanted(name)).last().map(str::to_owned)
    }

    /// Whether there are files of ours after that one.
    pub(crate) fn is_any_after(&self, file: Option<&str>) -> bool {
        let number = file.and_then(|file| self.style.number(file));
        self.ours().any(|(name, _)| self.style.number(name) > number)
    }

    /// The same without these files, whose numbers are given to what is added next.
    pub(crate) fn without(&self, drafts: &BTreeSet<String>) -> Self {
        let mut rest = self.clone();
        rest.files.retain(|(name, _)| !drafts.contains(name));
        for (name, text) in self.ours().filter(|(name, _)| drafts.contains(*name)) {
            let flow = flow_of(text).unwrap_or_default().to_owned();
            rest.drafts.push((flow, name.to_owned(), text.to_owned()));
        }
        rest
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

    /// Adds files, and returns their names in the same order, and whether each has to be written. They
    /// get the numbers of drafts, each that of its own flow if it can, and then the next ones.
    ///
    /// A file that is the very same as the last one about its flow is there already: somebody was
    /// stopped between writing it and writing the lock.
    pub(crate) fn add(&mut self, new: &[NewFile<'_>]) -> Vec<(String, bool)> {
        let mut numbers: Vec<_> = self.drafts.iter().map(|(_, name, _)| name.clone()).collect();
        // A build that was stopped may leave two drafts of one number.
        numbers.dedup_by_key(|name| self.style.number(name));
        let mut numbers = numbers.into_iter();
        let rank = |flow: &str| self.drafts.iter().position(|(known, ..)| known == flow);
        let mut order: Vec<usize> = (0..new.len()).collect();
        order.sort_by_key(|at| rank(new[*at].flow).unwrap_or(usize::MAX));
        let mut names = vec![(String::new(), false); new.len()];
        for at in order {
            let NewFile { flow, title, text } = new[at];
            names[at] = match self.last_about(flow).filter(|(_, last)| *last == text) {
                Some((name, _)) => (name.to_owned(), false),
                None => (self.add_one(numbers.next().as_deref(), title, text), true),
            };
        }
        names
    }

    /// Adds a file in the place of a draft, or after all others.
    fn add_one(&mut self, draft: Option<&str>, title: &str, text: &str) -> String {
        let style = self.style;
        let taken = self.drafts.iter().map(|(_, name, _)| name);
        let last = self.files.iter().map(|(name, _)| name).chain(taken);
        let last = last.max_by_key(|name| style.number(name)).map_or("", |name| name);
        let (number, digits) = match draft {
            Some(draft) => (style.number(draft).unwrap_or(0), style.digits(draft)),
            None => (style.number(last).unwrap_or(0) + 1, style.digits(last).max(4)),
        };
        let name = style.file_name(number, digits, title);
        self.files.push((name.clone(), Some(text.to_owned())));
        self.files.sort_by_cached_key(|(name, _)| (style.number(name), name.clone()));
        name
    }

    /// The flows of the drafts that were taken out.
    pub(crate) fn drafted(&self) -> BTreeSet<String> {
        self.drafts.iter().map(|(flow, ..)| flow.clone()).collect()
    }

    /// Drafts that nothing took the place of.
    pub(crate) fn superseded(&self) -> Vec<String> {
        let is_there = |name: &String| self.files.iter().any(|(known, _)| known == name);
        self.drafts.iter().map(|(_, name, _)| name.clone()).filter(|name| !is_there(name)).collect()
    }

    /// Whether a draft is this file already.
    pub(crate) fn has_draft(&self, name: &str, text: &str) -> bool {
        self.drafts.iter().any(|(_, known, draft)| known == name && draft == text)
    }

    /// Where a file is.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

/// A file to be added.
#[derive(Clone, Copy)]
pub(crate) struct NewFile<'a> {
    /// The flow that it is about.
    pub(crate) flow: &'a str,
    /// What it is called after its number.
    pub(crate) title: &'a str,
    pub(crate) text: &'a str,
}

/// The flow that a file of ours is about.
pub(crate) fn flow_of(text: &str) -> Option<&str> {
    text.lines().next()?.strip_prefix(MARK)?.split(' ').next()
}

/// Whether a file of ours deletes its flow.
pub(crate) fn is_drop(text: &str) -> bool {
    text.lines().next().is_some_and(|line| line.ends_with(" dropped"))
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
        Directory { path: PathBuf::new(), style, files, core: None, drafts: Vec::new() }
    }

    fn add(directory: &mut Directory, text: &str) -> (String, bool) {
        directory.add(&[NewFile { flow: "f", title: "a", text }]).remove(0)
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
            assert_eq!(add(&mut with(style, names), "").0, next);
        }
    }

    #[test]
    fn a_file_that_is_there_already_is_taken_over() {
        let mut directory = with(Style::Sqlx, &[]);
        let (same, other) = (format!("{MARK}f v1\n1"), format!("{MARK}f v1\n2"));
        assert_eq!(add(&mut directory, &same), ("0001_a.sql".to_owned(), true));
        assert_eq!(add(&mut directory, &same), ("0001_a.sql".to_owned(), false));
        assert_eq!(add(&mut directory, &other), ("0002_a.sql".to_owned(), true));
        assert_eq!(add(&mut directory, &same), ("0003_a.sql".to_owned(), true));
    }

    #[test]
    fn drafts_give_their_numbers_to_what_takes_their_place() {
        let mut directory = with(Style::Sqlx, &["0001_users.sql"]);
        for (flow, name) in [("f", "0002_tune_f.sql"), ("g", "0003_create_g.sql")] {
            directory.files.push((name.to_owned(), Some(format!("{MARK}{flow} v1\n"))));
        }
        let drafts = ["0002_tune_f.sql", "0003_create_g.sql"].map(str::to_owned).into();
        let added = |flows: &[&str]| {
            let mut rest = directory.without(&drafts);
            let title: Vec<_> = flows.iter().map(|flow| format!("create_{flow}_v2")).collect();
            let texts: Vec<_> = flows.iter().map(|flow| format!("{MARK}{flow} v2\n")).collect();
            let new = (0..flows.len()).map(|at| NewFile {
                flow: flows[at],
                title: &title[at],
                text: &texts[at],
            });
            let names: Vec<_> =
                rest.add(&new.collect::<Vec<_>>()).into_iter().map(|(name, _)| name).collect();
            (names.join(" "), rest.superseded().join(" "))
        };
        let both = "0002_tune_f.sql 0003_create_g.sql";
        assert_eq!(
            added(&["g", "f"]),
            ("0003_create_g_v2.sql 0002_create_f_v2.sql".into(), both.into())
        );
        assert_eq!(added(&["g"]), ("0002_create_g_v2.sql".into(), both.into()));
        assert_eq!(
            added(&["h", "f", "g"]).0,
            "0004_create_h_v2.sql 0002_create_f_v2.sql 0003_create_g_v2.sql"
        );
        assert_eq!(added(&[]), (String::new(), both.into()));
    }
}
