//! Wrong programs written down in Markdown, each with its mistake marked.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// A program with one mistake.
#[derive(Debug, Clone)]
pub struct Program {
    /// The file it is written in, without `.md`.
    pub set: String,
    /// What is wrong, which is its heading.
    pub name: String,
    /// The source, without marks.
    pub source: String,
    /// Where the error has to be, as a line and column from 1, and the underlined text.
    pub mark: Mark,
    /// What to change in order to follow the `help:`, from this to that.
    pub followed: Vec<(String, String)>,
    /// Why there is nothing to follow, though there is a `help:`.
    pub not_followed: Option<String>,
}

/// A place in a source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// From 1.
    pub line: usize,
    /// From 1.
    pub column: usize,
    /// What is underlined, up to the end of the line.
    pub text: String,
}

/// The programs of every file in `wrong/`.
///
/// # Panics
/// When a file cannot be read.
pub fn programs() -> Vec<Program> {
    let mut all: Vec<Program> = files().iter().flat_map(|file| read(file)).collect();
    all.sort_by(|one, other| one.name.cmp(&other.name));
    for pair in all.windows(2) {
        assert_ne!(pair[0].name, pair[1].name, "two programs have one name");
    }
    all
}

fn files() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("wrong");
    let entries = fs::read_dir(directory).expect("tests/ui/wrong can be read");
    let paths = entries.map(|entry| entry.expect("its entries can be read").path());
    paths.filter(|path| path.extension().is_some_and(|found| found == "md")).collect()
}

fn read(file: &Path) -> Vec<Program> {
    let text = fs::read_to_string(file).expect("the file can be read");
    let mut parts = text.split("\n## ");
    let common = parts.next().and_then(code).unwrap_or_default();
    let set = file.file_stem().unwrap_or_default().to_string_lossy();
    parts.map(|part| program(&set, part, &common)).collect()
}

fn program(set: &str, part: &str, common: &str) -> Program {
    let name = part.lines().next().unwrap_or_default().trim().to_owned();
    let code = code(part).unwrap_or_else(|| panic!("`{name}` has no code"));
    let mut marked = String::from("use pgflow::prelude::*;\n\n") + common + &code;
    if !marked.contains("fn main()") {
        marked += "fn main() {}\n";
    }
    let reason = part.lines().find_map(|line| line.strip_prefix("- no help to follow: "));
    Program {
        set: set.to_owned(),
        mark: mark(&name, &marked),
        source: unmarked(&marked),
        followed: edits(part),
        not_followed: reason.map(str::to_owned),
        name,
    }
}

fn code(part: &str) -> Option<String> {
    let (_, rest) = part.split_once("```rust\n")?;
    Some(rest.split_once("```")?.0.to_owned())
}

fn unmarked(text: &str) -> String {
    text.replace(['‹', '›'], "")
}

fn mark(name: &str, marked: &str) -> Mark {
    let (before, rest) = marked.split_once('‹').unwrap_or_else(|| panic!("`{name}` has no mark"));
    let (text, _) =
        rest.split_once('›').unwrap_or_else(|| panic!("the mark of `{name}` has no end"));
    let line = before.rsplit_once('\n').map_or(before, |(_, line)| line);
    Mark {
        line: before.matches('\n').count() + 1,
        column: line.chars().count() + 1,
        text: text.lines().next().unwrap_or_default().to_owned(),
    }
}

/// Lines such as ``- help: `from` → `to` ``; what they quote may be several lines long.
fn edits(part: &str) -> Vec<(String, String)> {
    let (_, after) = part.rsplit_once("```\n").unwrap_or_default();
    let of = |text: &str| {
        let (from, to) = text.split_once("` → `").unwrap_or_else(|| panic!("an edit: {text}"));
        let to = to.trim_end().strip_suffix('`').unwrap_or_else(|| panic!("an edit: {text}"));
        (from.to_owned(), to.to_owned())
    };
    let edits = after.split("- help: `").skip(1);
    edits.map(|text| of(text.split("\n- ").next().unwrap_or(text))).collect()
}

impl Program {
    /// The source after its `help:` was followed.
    ///
    /// # Panics
    /// When an edit does not fit.
    pub fn mended(&self) -> Option<String> {
        if self.followed.is_empty() {
            return None;
        }
        let mut source = self.source.clone();
        for (from, to) in &self.followed {
            assert_eq!(source.matches(from).count(), 1, "`{from}` in `{}`:\n{source}", self.name);
            source = source.replacen(from, to, 1);
        }
        Some(source)
    }
}
