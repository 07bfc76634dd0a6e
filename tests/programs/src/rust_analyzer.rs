//! The language server that tests of editors ask. It is no package of Debian but a component of the toolchain, which
//! `rust-toolchain.toml` names: rustup brings it along.

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
    candidates.into_iter().find(answers).ok_or_else(missing)
}

fn missing() -> Error {
    let help = format!(
        "`rustup {}`; without rustup, install it beside the toolchain: it is looked for in the PATH, and where \
         RUST_ANALYZER=path says",
        ADD.join(" ")
    );
    Error::Missing { what: "rust-analyzer".to_owned(), help }
}

/// Adds it to the toolchain of this directory, if there is none.
pub(crate) fn provide() -> Result<PathBuf> {
    find().or_else(|_| {
        println!("    rustup {}", ADD.join(" "));
        added(run(Command::new("rustup").args(ADD)))?;
        find()
    })
}

/// Where there is no rustup, that is not what is to be mended.
fn added(answer: Result<String>) -> Result<()> {
    match answer {
        Err(Error::Io { .. }) => Err(missing()),
        answer => answer.map(drop),
    }
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
    fn without_rustup_it_says_what_to_do() {
        let error = added(run(&mut Command::new("/nowhere/rustup"))).unwrap_err().to_string();
        assert!(error.contains("no rust-analyzer") && error.contains("RUST_ANALYZER"), "{error}");
        let error = added(run(&mut Command::new("false"))).unwrap_err().to_string();
        assert!(error.contains("`false` failed"), "{error}");
    }

    #[test]
    fn what_only_has_its_name_is_not_it() {
        assert!(answers(&PathBuf::from("true")));
        assert!(!answers(&PathBuf::from("false")));
        assert!(!answers(&PathBuf::from("/nowhere/rust-analyzer")));
    }
}
