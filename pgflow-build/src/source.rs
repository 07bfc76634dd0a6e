//! Finds the flows of a crate by reading its source, the way the compiler would.
//!
//! A build script runs before the crate is compiled, so it cannot ask the compiler. It follows
//! modules from the crate's roots and looks for `#[flow] mod name { … }`, at the level of tokens:
//! what is not a module is not parsed, so it costs little and does not mind code it does not know.

mod attribute;
mod flow;
mod hidden;
mod item;
mod scope;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use pgflow_model::Lock;
use proc_macro2::TokenStream;

use crate::error::{Doing, Error};
use crate::location::SourceLocation;
use crate::problem::Problem;

pub use flow::{Comparison, FoundFlow};
use scope::Scope;

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Every file that was read, below the crate where it can be.
    pub(crate) files: BTreeSet<PathBuf>,
    /// Files that modules name and that are not there.
    pub(crate) missing: BTreeSet<PathBuf>,
    /// Every flow without errors.
    pub(crate) flows: Vec<FoundFlow>,
    /// Places that could hold flows and that were not understood, and why.
    pub(crate) unseen: Vec<(SourceLocation, String)>,
    /// What is wrong with the other flows.
    pub(crate) problems: Vec<Problem>,
}

/// Reads source files one after the other.
pub(crate) struct Reader<'a> {
    dir: &'a Path,
    lock: &'a Lock,
    /// Files that are known to hold no flows.
    trusted: &'a [PathBuf],
    found: Found,
}

impl<'a> Reader<'a> {
    /// Reads a crate from its roots, and compares its flows with the lock.
    pub(crate) fn read(
        dir: &'a Path,
        roots: &[PathBuf],
        lock: &'a Lock,
        trusted: &'a [PathBuf],
    ) -> Result<Found, Error> {
        let mut reader = Self { dir, lock, trusted, found: Found::default() };
        for root in roots {
            reader.file(&Scope::root(root))?;
        }
        let mut found = reader.found;
        found.flows.sort_by(|a, b| (&a.shape.slug, &a.place).cmp(&(&b.shape.slug, &b.place)));
        Ok(found)
    }

    /// Reads a file, once, and what it leads to.
    fn file(&mut self, scope: &Scope) -> Result<(), Error> {
        let path = self.dir.join(&scope.file);
        if self.found.files.contains(&scope.file) {
            return Ok(());
        }
        if !path.is_file() {
            self.found.missing.insert(scope.file.clone());
            return Ok(());
        }
        let text = fs::read_to_string(&path).doing("read", &path)?;
        self.found.files.insert(scope.file.clone());
        match without_shebang(&text).parse::<TokenStream>() {
            Ok(tokens) => self.items(tokens, scope),
            // Flows may be in it, so nobody can say which there are.
            Err(why) => {
                let place = SourceLocation::of(&scope.file, why.span());
                self.problem(place, "a bracket or a quote is left open here, or closed twice");
                Ok(())
            }
        }
    }

    /// What the compiler says too.
    fn problem(&mut self, place: SourceLocation, text: impl Into<String>) {
        self.found.problems.push(Problem::of_compiler(place, text));
    }

    fn unseen(&mut self, place: SourceLocation, why: impl Into<String>) {
        if !self.trusted.contains(&place.file) {
            self.found.unseen.push((place, why.into()));
        }
    }
}

/// The text without a first line that is for the system, as the compiler sees it.
fn without_shebang(text: &str) -> Cow<'_, str> {
    let line = text.lines().next().unwrap_or_default();
    if line.starts_with("#!") && !line[2..].trim_start().starts_with('[') {
        return Cow::Owned(text.replacen(line, "", 1));
    }
    Cow::Borrowed(text)
}
