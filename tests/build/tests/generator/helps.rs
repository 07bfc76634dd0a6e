//! Everything that the generator and its commands print as help is quoted by a test that makes them print it.

use std::fs;
use std::path::{Path, PathBuf};

/// Where they are written.
const ROOMS: [&str; 2] = ["pgflow-build/src", "pgflow-cli/src"];

/// Where the tests of both are.
const TESTS: [&str; 3] = ["tests/build/tests", "pgflow-cli/tests", "pgflow-build/src"];

/// Helps that are put together, `help: {…}`: in which file, and every way in which they go on.
const PUT_TOGETHER: [(&str, &[&str]); 5] = [
    (
        "pgflow-build/src/error.rs",
        &["undo it with git, or change the source", "change the source: that writes another"],
    ),
    (
        "pgflow-build/src/plan.rs",
        &[
            "flow `invoicing` at src/lib.rs:4:9 has the same steps",
            "if it was renamed, give it `slug",
        ],
    ),
    ("pgflow-cli/src/schema.rs", &["let the new type read the old form too"]),
    // What is wrong with a database, which its backend says: pgflow-cli/tests/cli/doctor.rs has these.
    ("pgflow-cli/src/doctor.rs", &[]),
    ("pgflow-cli/src/error.rs", &[]),
];

/// So much of a help is looked for: a test need not repeat all of it.
const QUOTED: usize = 30;

#[test]
fn each_help_is_quoted_by_a_test() {
    let mut tests: Vec<_> = TESTS.iter().flat_map(|room| files(&root().join(room))).collect();
    tests.retain(|file| !file.ends_with("generator/helps.rs"));
    let tests: String = tests.iter().map(|file| tests_of(file)).collect();
    let mut missing = Vec::new();
    for file in ROOMS.iter().flat_map(|room| files(&root().join(room))) {
        let (literal, together) = helps(&joined(&file));
        let known = PUT_TOGETHER.iter().find(|(it, _)| file.ends_with(it));
        assert_eq!(together > 0, known.is_some(), "{}: list how these go on", file.display());
        let endings = known.into_iter().flat_map(|(_, endings)| endings.iter());
        missing.extend(literal.into_iter().chain(endings.map(ToString::to_string)));
    }
    missing.retain(|help| !tests.contains(help.chars().take(QUOTED).collect::<String>().as_str()));
    assert!(missing.is_empty(), "no test quotes {missing:#?}");
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All Rust files in a directory.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("there are sources");
    let paths = entries.map(|entry| entry.expect("they can be read").path());
    let all = paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] });
    all.filter(|path| path.extension().is_some_and(|it| it == "rs")).collect()
}

/// A source whose literals are each on one line.
fn joined(file: &Path) -> String {
    let text = fs::read_to_string(file).expect("they can be read");
    let mut parts = text.split("\\\n");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| all + part.trim_start())
}

/// What is a test in a file: all of it, unless it is one of the sources.
fn tests_of(file: &Path) -> String {
    let text = joined(file);
    if file.to_string_lossy().contains("/src/") {
        return text.split("#[cfg(test)]").skip(1).collect();
    }
    text
}

/// The beginnings of everything that a source prints as help, and how many have none that is literal.
fn helps(text: &str) -> (Vec<String>, usize) {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let written = ["\\nhelp: ", "\"help: ", "\"  help: "].into_iter();
    let written = written.flat_map(|word| code.split(word).skip(1));
    let start =
        |text: &str| text.split(['{', '"', '\\', '\n']).next().unwrap_or_default().to_owned();
    let (literal, together): (Vec<_>, Vec<_>) = written.map(start).partition(|it| !it.is_empty());
    (literal, together.len())
}
