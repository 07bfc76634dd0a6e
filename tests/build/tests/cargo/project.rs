//! A crate that real cargo builds.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::SystemTime;

pub(crate) const FLOW: &str = r"//! A crate with a flow.

use pgflow::prelude::*;

#[flow(input = u32)]
pub mod billing {
    use super::*;

    #[step]
    pub async fn fetch(run: u32) -> Result<u32> { Ok(run) }

    #[step(depends_on = [fetch], timeout = 30)]
    pub async fn list(fetch: u32) -> Result<Vec<u32>> { Ok(vec![fetch]) }
}

pub const MIGRATIONS: pgflow::definition::FlowMigrations = pgflow::migrations!();
";

const MAIN: &str = r#"use pgflow::Flow as _;

fn main() {
    let names: Vec<_> = scratch::MIGRATIONS.files.iter().map(|file| file.name).collect();
    let flow = scratch::billing::Flow::DEF;
    let finishes: Vec<_> = flow.finishes.iter().map(|older| older.version).collect();
    print!("{}; {} v{}, finishes {finishes:?}", names.join(" "), flow.version_slug, flow.version);
}
"#;

/// A crate in a workspace of its own; all share the compiled dependencies.
pub(crate) struct Project {
    pub(crate) dir: PathBuf,
}

/// What cargo did.
pub(crate) struct Built(Output);

impl Project {
    pub(crate) fn new(name: &str) -> Self {
        let root = root();
        let project =
            Self { dir: Path::new(env!("CARGO_TARGET_TMPDIR")).join("generator").join(name) };
        let _ = fs::remove_dir_all(&project.dir);
        let (pgflow, build) = (root.join("pgflow"), root.join("pgflow-build"));
        project.write(
            "Cargo.toml",
            &format!(
                "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n\
                 [lib]\nname = \"scratch\"\n[dependencies]\npgflow = {{ path = '{}', default-features = false }}\n\
                 [build-dependencies]\npgflow-build = {{ path = '{}' }}\n\
                 [profile.dev]\ndebug = false\n",
                pgflow.display(),
                build.display()
            ),
        );
        fs::copy(root.join("Cargo.lock"), project.dir.join("Cargo.lock")).expect("a lock file");
        project
            .write("build.rs", "fn main() { pgflow_build::migrations(\"migrations\").emit(); }\n");
        project.write("src/lib.rs", FLOW);
        project.write("src/main.rs", MAIN);
        project
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.dir.join(path);
        fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        fs::write(path, text).expect("a written file");
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.dir.join(path)).expect("a file")
    }

    /// As a commit would: what is written stays as it is.
    pub(crate) fn keep(&self) {
        let migrations = pgflow_build::migrations("migrations").in_crate(&self.dir);
        assert!(migrations.keep().expect("kept"), "there were drafts");
    }

    pub(crate) fn remove(&self, path: &str) {
        fs::remove_file(self.dir.join(path)).expect("removed");
    }

    pub(crate) fn migrations(&self) -> Vec<String> {
        let entries = fs::read_dir(self.dir.join("migrations")).expect("migrations").flatten();
        let mut names: Vec<_> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// When the files that a build could touch were written.
    pub(crate) fn times(&self) -> BTreeMap<PathBuf, SystemTime> {
        let names = self.migrations().into_iter().map(|name| format!("migrations/{name}"));
        let all = names.chain(["pgflow.lock", "src/lib.rs", "migrations"].map(str::to_owned));
        all.map(|name| {
            let path = self.dir.join(name);
            let time = path.metadata().and_then(|data| data.modified()).expect("a time");
            (path, time)
        })
        .collect()
    }

    pub(crate) fn build(&self, args: &[&str]) -> Built {
        self.build_with(&[], args)
    }

    pub(crate) fn build_with(&self, env: &[(&str, &str)], args: &[&str]) -> Built {
        let output = self.cargo("build").args(args).envs(env.iter().copied()).output();
        Built(output.expect("cargo runs"))
    }

    /// What an editor does when a file is saved.
    pub(crate) fn check(&self) -> Built {
        Built(self.cargo("check").output().expect("cargo runs"))
    }

    /// What the program prints.
    pub(crate) fn run(&self) -> String {
        let output = self.cargo("run").arg("--quiet").output().expect("cargo runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn cargo(&self, command: &str) -> Command {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.arg(command).arg("--offline").current_dir(&self.dir);
        cargo.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("shared"));
        cargo.env_remove("CI").env_remove("PGFLOW_MIGRATIONS").env("CARGO_TERM_COLOR", "never");
        cargo
    }

    pub(crate) fn set_read_only(&self, is_read_only: bool) {
        for path in ["migrations", "pgflow.lock", ""].map(|path| self.dir.join(path)) {
            let mut permissions = path.metadata().expect("a file").permissions();
            permissions.set_readonly(is_read_only);
            fs::set_permissions(path, permissions).expect("permissions");
        }
    }
}

/// Packages a crate of this repository, and builds what was packaged, with the library from here in
/// place of the one from a registry.
pub(crate) fn package(name: &str) -> Built {
    let root = root();
    let mut cargo = Project { dir: root.clone() }.cargo("package");
    cargo.args(["--allow-dirty", "--package", name, "--config", "profile.dev.debug=false"]);
    for library in ["pgflow", "pgflow-build", "pgflow-runtime"] {
        let path = root.join(library);
        cargo.arg("--config").arg(format!("patch.crates-io.{library}.path='{}'", path.display()));
    }
    Built(cargo.output().expect("cargo runs"))
}

/// The repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("a root")
}

impl Built {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.stderr).into_owned()
    }

    pub(crate) fn succeeds(&self) {
        assert!(self.0.status.success(), "{}", self.text());
    }

    pub(crate) fn fails(&self) {
        assert!(!self.0.status.success(), "it should have failed:\n{}", self.text());
    }

    pub(crate) fn says(&self, words: &str) {
        assert!(self.text().contains(words), "`{words}` is not in:\n{}", self.text());
    }

    pub(crate) fn says_not(&self, words: &str) {
        assert!(!self.text().contains(words), "`{words}` is in:\n{}", self.text());
    }
}
