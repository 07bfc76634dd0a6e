//! Whether source files are Rust, as far as that can be said without compiling them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::location::SourceLocation;
use crate::problem::Problem;

/// Where the files are not Rust. The search for flows passes over what it does not understand, which
/// is right for finding them, and wrong for concluding anything from code that is half typed.
///
/// A file that was said to hold no flows is left out: it may use newer syntax than this parser knows.
pub(crate) fn problems(dir: &Path, files: &BTreeSet<PathBuf>, trusted: &[PathBuf]) -> Vec<Problem> {
    let wanted = files.iter().filter(|file| !trusted.contains(file));
    wanted.filter_map(|file| problem(dir, file)).collect()
}

fn problem(dir: &Path, file: &Path) -> Option<Problem> {
    let text = fs::read_to_string(dir.join(file)).ok()?;
    let error = syn::parse_file(&text).err()?;
    let place = SourceLocation::of(file, error.span());
    Some(Problem::of_parser(place, &error))
}
