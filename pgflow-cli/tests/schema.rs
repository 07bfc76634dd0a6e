//! `cargo pgflow schema`: whether stored data stays readable. Builds a crate, again and again.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use support::{Ran, cargo_pgflow};

const LIB: &str = r"//! A crate with stored data.

use pgflow::prelude::*;

#[data]
pub struct Letter { pub text: String }

#[flow(input = Letter)]
pub mod mail {
    use super::*;

    #[step]
    pub async fn send(run: Letter) -> Result<u32> { Ok(run.text.len().try_into()?) }
}

pgflow::schema_test!(mail::Flow);
";

fn project() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("a root");
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("schemas");
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(dir.join("src")).expect("a directory");
    let manifest = format!(
        "[package]\nname = \"schemas\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n\
         [dependencies]\npgflow = {{ path = '{}' }}\n[profile.dev]\ndebug = false\n",
        root.join("pgflow").display()
    );
    fs::write(dir.join("Cargo.toml"), manifest).expect("a manifest");
    fs::copy(root.join("Cargo.lock"), dir.join("Cargo.lock")).expect("a lock file");
    dir
}

fn schema(dir: &Path, lib: &str, args: &[&str]) -> Ran {
    fs::write(dir.join("src/lib.rs"), lib).expect("a source");
    cargo_pgflow(dir, &[&["schema"], args].concat())
}

#[test]
fn changes_are_shown_with_their_place_until_they_are_accepted() {
    let dir = project();
    let changed = LIB.replace("text: String", "text: Vec<u8>");
    let more = LIB.replace("{ pub", "{ #[serde(default)] pub to: String, pub");
    let without = LIB.replace("pgflow::schema_test!(mail::Flow);\n", "");
    for (name, lib, args, code, words) in [
        ("no test", &*without, &[][..], 1, "error: this crate has no test of its schemas"),
        ("no file", LIB, &["--check"], 1, "input of `mail` is new"),
        ("written", LIB, &["--write"], 0, ""),
        ("the same", LIB, &["--check"], 0, ""),
        ("the default", LIB, &[], 0, ""),
        (
            "unreadable",
            &changed,
            &["--check"],
            1,
            "input of `mail`: $.text: type was string, now array (NOT readable)",
        ),
        (
            "readable",
            &more,
            &["--check"],
            1,
            "input of `mail`: $.to: field was added with a default (readable)",
        ),
        ("accepted", &more, &["--write"], 0, ""),
        ("after that", &more, &["--check"], 0, ""),
        ("both", LIB, &["--write", "--check"], 2, "cannot be used with"),
    ] {
        let ran = schema(&dir, lib, args);
        assert_eq!(ran.code(), Some(code), "{name}: {}", ran.text());
        assert!(ran.text().contains(words), "{name}: `{words}` is not in: {}", ran.text());
    }
}
