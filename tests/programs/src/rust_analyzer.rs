//! The language server that tests of editors ask. It is no package of Debian but a component of the toolchain.

use std::path::PathBuf;
use std::process::Command;

use crate::error::{Error, Result};
use crate::process::run;

const ADD: [&str; 3] = ["component", "add", "rust-analyzer"];

/// Where it is: what `RUST_ANALYZER` says, or else that of the toolchain, or else one in the `PATH`.
pub fn find() -> Result<PathBuf> {
    let asked_for = std::env::var_os("RUST_ANALYZER").map(PathBuf::from);
    let candidates = match asked_for {
        Some(path) => vec![path],
        None => of_rustup().into_iter().chain([PathBuf::from("rust-analyzer")]).collect(),
    };
    let help = "`cargo xtask provision` adds it to the toolchain; RUST_ANALYZER=path names another"
        .to_owned();
    let found = candidates.into_iter().find(answers);
    found.ok_or(Error::Missing { what: "rust-analyzer".to_owned(), help })
}

/// Adds it to the toolchain of this directory, if there is none.
pub(crate) fn provide() -> Result<PathBuf> {
    if let Ok(found) = find() {
        return Ok(found);
    }
    println!("    rustup {}", ADD.join(" "));
    run(Command::new("rustup").args(ADD))?;
    find()
}

fn of_rustup() -> Option<PathBuf> {
    let path = run(Command::new("rustup").args(["which", "rust-analyzer"])).ok()?;
    Some(PathBuf::from(path.trim()))
}

/// A name in `PATH` may be rustup's stand-in for a program that is not installed.
fn answers(binary: &PathBuf) -> bool {
    run(Command::new(binary).arg("--version")).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_has_its_name_is_not_it() {
        assert!(answers(&PathBuf::from("true")));
        assert!(!answers(&PathBuf::from("false")));
        assert!(!answers(&PathBuf::from("/nowhere/rust-analyzer")));
    }
}
