//! The generated crates: one per kind and size, which share a target directory.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::args::Shape;
use crate::generate::{Kind, source};

/// The directory with the generated crates.
pub(crate) struct Workspace {
    root: PathBuf,
    pub(crate) shape: Shape,
    pub(crate) sizes: &'static [usize],
}

impl Workspace {
    /// Writes all crates below the target directory.
    pub(crate) fn create(shape: Shape, sizes: &'static [usize]) -> Self {
        let workspace = Self { root: scratch(), shape, sizes };
        let names: Vec<_> = workspace.crates().map(|(kind, size)| name(kind, size)).collect();
        fs::create_dir_all(&workspace.root).expect("the target directory can be written");
        write(&workspace.root.join("Cargo.toml"), &workspace_manifest(&names));
        let lock = repository().join("Cargo.lock");
        fs::copy(lock, workspace.root.join("Cargo.lock")).expect("there is a Cargo.lock");
        for (kind, size) in workspace.crates() {
            let manifest = crate_manifest(&name(kind, size));
            let directory = workspace.root.join(name(kind, size));
            fs::create_dir_all(directory.join("src")).expect("the target directory can be written");
            write(&directory.join("Cargo.toml"), &manifest);
            workspace.edit(kind, size, 0);
        }
        workspace
    }

    /// Every kind and size.
    pub(crate) fn crates(&self) -> impl Iterator<Item = (Kind, usize)> + use<> {
        let sizes = self.sizes;
        Kind::ALL.into_iter().flat_map(move |kind| sizes.iter().map(move |size| (kind, *size)))
    }

    /// Changes one body of a crate.
    pub(crate) fn edit(&self, kind: Kind, size: usize, edit: usize) {
        let file = self.root.join(name(kind, size)).join("src/lib.rs");
        write(&file, &source(kind, self.shape, size, edit));
    }

    /// `cargo check` of one crate.
    pub(crate) fn check(&self, kind: Kind, size: usize, incremental: bool) -> Command {
        let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command
            .args(["check", "--quiet", "--offline", "--package", &name(kind, size)])
            .arg("--target-dir")
            .arg(self.root.join("target"))
            .env("CARGO_INCREMENTAL", if incremental { "1" } else { "0" })
            .current_dir(&self.root);
        command
    }
}

fn name(kind: Kind, size: usize) -> String {
    format!("{}-{size}", kind.name())
}

fn workspace_manifest(members: &[String]) -> String {
    format!("[workspace]\nresolver = \"3\"\nmembers = {members:?}\n")
}

/// The crates of both kinds depend on the same things, so that only the flow differs.
fn crate_manifest(name: &str) -> String {
    let pgflow = repository().join("pgflow");
    let pgflow = pgflow.display();
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [dependencies]\npgflow = {{ path = \"{pgflow}\", default-features = false }}\n\
         schemars = \"1\"\nserde = {{ version = \"1\", features = [\"derive\"] }}\n"
    )
}

fn repository() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the repository is there")
}

fn scratch() -> PathBuf {
    let target = env::var_os("CARGO_TARGET_DIR").map_or(repository().join("target"), PathBuf::from);
    target.join("compile-cost")
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
