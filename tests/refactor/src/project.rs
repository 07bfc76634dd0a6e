//! A copy of the example crate that can be edited and checked.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use crate::Checked;

/// A copy of the example crate.
#[derive(Debug)]
pub struct Project {
    root: PathBuf,
    target: PathBuf,
}

impl Project {
    /// A fresh copy below `scratch`, called `name`.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn new(scratch: &Path, name: &str) -> Self {
        let project = Self { root: scratch.join(name), target: scratch.join("target") };
        fs::create_dir_all(project.root.join("src")).expect("the copy can be created");
        write(&project.root.join("Cargo.toml"), &manifest(name));
        let lock = here().join("../../Cargo.lock");
        fs::copy(lock, project.root.join("Cargo.lock")).expect("the workspace has a Cargo.lock");
        for entry in fs::read_dir(here().join("example/src")).expect("there is an example") {
            let source = entry.expect("its entries can be read").path();
            let file = source.file_name().expect("a file has a name");
            write(&project.root.join("src").join(file), &read(&source));
        }
        project
    }

    /// Replaces the one occurrence of `from` in a file.
    ///
    /// # Panics
    /// When there is none, or more than one: the edit would not be the one that was meant.
    #[must_use]
    pub fn edit(self, file: &str, from: &str, to: &str) -> Self {
        let path = self.root.join(file);
        let text = read(&path);
        assert_eq!(text.matches(from).count(), 1, "`{from}` in {file}:\n{text}");
        write(&path, &text.replacen(from, to, 1));
        self
    }

    /// Runs `cargo check` on the library and its unit tests.
    ///
    /// # Panics
    /// When cargo cannot be started, or fails for another reason than the example's source.
    pub fn check(&self) -> Checked {
        let output = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args(["check", "--quiet", "--offline", "--message-format=json"])
            .args(["--lib", "--profile=test"])
            .arg("--target-dir")
            .arg(&self.target)
            .current_dir(&self.root)
            .stderr(Stdio::piped())
            .output()
            .expect("cargo can be started");
        let checked = Checked::read(&String::from_utf8_lossy(&output.stdout));
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.success(), checked.errors.is_empty(), "cargo said: {said}");
        checked
    }
}

/// A manifest that stands alone, with the workspace's crates by path.
///
/// Each copy has a name of its own: cargo tells packages in a shared target directory apart by name,
/// not by directory, and would take one copy's result for another's.
fn manifest(name: &str) -> String {
    let repository = here().join("../..");
    let repository = repository.canonicalize().expect("the repository is there");
    let template = read(&here().join("example/Cargo.toml.in"));
    template.replace("{repository}", &repository.display().to_string()).replace("{name}", name)
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
