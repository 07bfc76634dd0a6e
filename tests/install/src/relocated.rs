//! A copy of the server's installation, to which extensions can be added.

use std::path::{Path, PathBuf};
use std::process::Command;

use pgflow_test_support::Binaries;

use crate::Directory;

/// Postgres finds its shared files relative to its program, so a copy uses the copy's.
#[derive(Debug)]
pub struct Relocated {
    root: Directory,
    bin: PathBuf,
    share: PathBuf,
}

impl Relocated {
    /// Copies the machine's own.
    ///
    /// # Panics
    /// When it cannot be found or copied.
    pub fn new() -> Self {
        let binaries = Binaries::find(None).unwrap();
        let [bin, share, lib] = ["--bindir", "--sharedir", "--pkglibdir"].map(|directory| {
            let output = Command::new(binaries.program("pg_config")).arg(directory).output();
            PathBuf::from(String::from_utf8(output.unwrap().stdout).unwrap().trim())
        });
        let root = Directory::empty();
        let prefix = common(&bin, &share);
        let copy_of = |path: &Path| root.path().join(path.strip_prefix(&prefix).unwrap());
        for program in ["postgres", "initdb", "pg_ctl"] {
            copy(&bin.join(program), &copy_of(&bin));
        }
        copy(&share.join("."), &copy_of(&share));
        std::os::unix::fs::symlink(&lib, copy_of(&lib)).unwrap();
        Self { bin: copy_of(&bin), share: copy_of(&share), root }
    }

    /// Its programs.
    pub fn binaries(&self) -> Binaries {
        Binaries::in_dir(&self.bin)
    }

    /// Offers an extension in one version.
    ///
    /// # Panics
    /// When the files cannot be written.
    pub fn offer(&self, name: &str, version: &str, script: &str) {
        let extension = self.share.join("extension");
        let control = format!(
            "default_version = '{version}'\nschema = '{name}'\nrelocatable = false\nsuperuser = false\n"
        );
        std::fs::write(extension.join(format!("{name}.control")), control).unwrap();
        std::fs::write(extension.join(format!("{name}--{version}.sql")), script).unwrap();
        self.make_readable();
    }

    /// The server may run as another user.
    fn make_readable(&self) {
        let status = Command::new("chmod").args(["-R", "a+rX"]).arg(self.root.path()).status();
        assert!(status.unwrap().success());
    }
}

impl Default for Relocated {
    fn default() -> Self {
        Self::new()
    }
}

fn common(a: &Path, b: &Path) -> PathBuf {
    a.components().zip(b.components()).take_while(|(a, b)| a == b).map(|(a, _)| a).collect()
}

/// Follows links, because a program is looked for where its file is.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    let status = Command::new("cp").arg("-RL").args([from, to]).status().unwrap();
    assert!(status.success(), "cannot copy {}", from.display());
}
