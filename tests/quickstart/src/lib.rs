//! The first five minutes, as everybody types them: examples that need no set-up.

#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// `cargo run --example NAME -- …`, as a person types it, in `dir`.
///
/// # Panics
/// When there is no cargo.
pub fn example(name: &str, dir: &Path, args: &[&str]) -> Output {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.toml");
    Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--example", name, "--manifest-path"])
        .arg(manifest)
        .arg("--")
        .args(args)
        .current_dir(dir)
        .output()
        .expect("cargo runs")
}

/// What it printed, after it ended well.
///
/// # Panics
/// When it did not.
pub fn what_it_shows(name: &str, dir: &Path, args: &[&str]) -> String {
    let output = example(name, dir, args);
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{stdout}\n{stderr}");
    stdout.into_owned()
}

/// A directory of its own, gone after the test.
#[derive(Debug)]
pub struct Dir(pub PathBuf);

impl Dir {
    /// In the directory for temporary files.
    ///
    /// # Panics
    /// When there is no room.
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("pgflow-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a directory");
        Self(path)
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}
