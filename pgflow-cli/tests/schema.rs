//! `cargo pgflow schema`: whether stored data stays readable. Builds a crate, again and again.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use support::{Ran, cargo_pgflow, cargo_test};

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
";

fn project() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("a root");
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("schemas");
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(dir.join("src")).expect("a directory");
    let manifest = format!(
        "[package]\nname = \"schemas\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n\
         [dependencies]\npgflow = {{ path = '{}', default-features = false }}\n[profile.dev]\ndebug = false\n",
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

/// What is done to the crate, how it ends, and what is said.
type Case<'a> = (&'a str, &'a str, &'a [&'a str], i32, &'a str);

#[test]
fn changes_are_shown_with_their_place_until_they_are_accepted() {
    let dir = project();
    let unknown = schema(&dir, LIB, &[]);
    assert_eq!(unknown.code(), Some(1));
    assert!(unknown.text().contains("error: no flow of this crate is in pgflow.lock"));
    let help = "\nhelp: write migrations with `cargo pgflow migrate`, or add `pgflow::schema_test!(my_flow::Flow);`";
    assert!(unknown.text().contains(help), "{}", unknown.text());
    // With a migration, the flow has a test of what it stores.
    pgflow_build::migrations("migrations").in_crate(&dir).migrate().expect("migrated");
    let changed = LIB.replace("text: String", "text: Vec<u8>");
    let more = LIB.replace("{ pub", "{ #[serde(default)] pub to: String, pub");
    let wider = LIB.replace("Result<u32>", "Result<u64>");
    let cases: &[Case<'_>] = &[
        (
            "no file",
            LIB,
            &["--check"],
            1,
            "flow `mail` version 1: not what pgflow.schemas.json says",
        ),
        ("written", LIB, &["--write"], 0, "written to pgflow.schemas.json: commit it"),
        ("the same", LIB, &["--check"], 0, "flow `mail` version 1: as pgflow.schemas.json says"),
        ("the default", LIB, &[], 0, ""),
        (
            "unreadable",
            &changed,
            &[],
            1,
            "input of the run: breaking\n    $.text: type was string, now array",
        ),
        (
            "advice",
            &changed,
            &[],
            1,
            "  help: let the new type read the old form too, or give the flow another `format = …`",
        ),
        (
            "readable",
            &more,
            &[],
            1,
            "input of the run: readable\n    $.to: field was added with a default",
        ),
        (
            "one way",
            &wider,
            &[],
            1,
            "output of step `send`: readable by new code only\n    $: its range is wider: 0 to 18446744073709551615",
        ),
        (
            "as JSON",
            &changed,
            &["--json"],
            1,
            r#""status":"changed","stored":[{"changes":[{"isReadable":false,"path":"$.text","what":"type was string, now array"}],"readable":"breaking","step":null}],"version":1}"#,
        ),
        ("accepted", &changed, &["--write"], 0, "input of the run: breaking"),
        ("after that", &changed, &["--check", "--json"], 0, r#""status":"same""#),
        ("both", LIB, &["--write", "--check"], 2, "cannot be used with"),
        ("not Rust", "fn", &[], 1, "error: expected identifier"),
    ];
    for (name, lib, args, code, words) in cases {
        let ran = schema(&dir, lib, args);
        assert_eq!(ran.code(), Some(*code), "{name}: {}", ran.text());
        assert!(ran.text().contains(words), "{name}: `{words}` is not in: {}", ran.text());
    }
    tests_write_what_can_be_read(&dir, &changed);
}

/// Nobody has to remember a command: `cargo test` writes the file, unless something would break.
fn tests_write_what_can_be_read(dir: &Path, before: &str) {
    let committed = || fs::read_to_string(dir.join("pgflow.schemas.json")).expect("a file");
    let was = committed();
    let more = before.replace("{ pub", "{ #[serde(default)] pub to: String, pub");
    for (lib, is_fine, is_written) in [(LIB, false, false), (&*more, true, true)] {
        fs::write(dir.join("src/lib.rs"), lib).expect("a source");
        let ran = cargo_test(dir);
        let text = ran.text();
        assert_eq!(ran.code() == Some(0), is_fine, "{text}");
        assert_eq!(committed() != was, is_written, "{text}");
        assert_eq!(text.contains("holds its step back"), !is_fine, "{text}");
    }
}
