//! Many programs in one crate, compiled with one command.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use serde_json::Value;

use crate::program::Mark;
use crate::scratch::manifest;

/// A crate whose programs are compiled apart from each other.
#[derive(Debug)]
pub struct Many {
    root: PathBuf,
    target: PathBuf,
}

/// An error as the compiler shows it.
#[derive(Debug, Clone)]
pub struct Shown {
    /// What is stated, help of ours included.
    pub message: String,
    /// What is printed.
    pub rendered: String,
    /// What is underlined.
    pub mark: Option<Mark>,
}

impl Shown {
    /// Lines a reader sees.
    pub fn length(&self) -> usize {
        self.rendered.trim_end().lines().count()
    }
}

impl Many {
    /// Writes the crate `name` below `directory`, with these programs and no others.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn write<'a>(
        directory: &Path,
        name: &str,
        programs: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let root = directory.join(name);
        let sources = root.join("src/bin");
        if sources.exists() {
            fs::remove_dir_all(&sources).expect("earlier programs can go");
        }
        fs::create_dir_all(&sources).expect("the crate can be written");
        fs::write(root.join("Cargo.toml"), manifest(name)).expect("the crate can be written");
        let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
        fs::copy(lock, root.join("Cargo.lock")).expect("the workspace has a Cargo.lock");
        for (name, source) in programs {
            let file = sources.join(name).with_extension("rs");
            let parent = file.parent().expect("a file is in a directory");
            fs::create_dir_all(parent).expect("the crate can be written");
            fs::write(file, source).expect("the crate can be written");
        }
        Self { root, target: directory.join("target") }
    }

    /// The errors of each program that has any.
    ///
    /// A compiler that is killed on a busy machine has said nothing about its program, which is no consent: those are
    /// compiled again.
    ///
    /// # Panics
    /// When cargo cannot be started, or a program is neither compiled nor refused.
    pub fn errors(&self) -> BTreeMap<String, Vec<Shown>> {
        let (mut all, mut missing, mut said) = (BTreeMap::new(), self.names(), String::new());
        for _ in 0..3 {
            let checked = self.check();
            for (name, shown) in checked.ended {
                if missing.remove(&name) {
                    all.insert(name, shown);
                }
            }
            if missing.is_empty() {
                break;
            }
            said += &checked.said;
        }
        assert!(missing.is_empty(), "nothing is known about {missing:?}; cargo said: {said}");
        all.retain(|_, shown| !shown.is_empty());
        all
    }

    /// The programs: files in `src/bin`, not what they have in directories.
    fn names(&self) -> BTreeSet<String> {
        let entries = fs::read_dir(self.root.join("src/bin")).expect("the programs are there");
        let paths = entries.map(|entry| entry.expect("they can be listed").path());
        let files = paths.filter(|path| path.is_file());
        files.filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned())).collect()
    }

    fn check(&self) -> Checked {
        let output = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args(["check", "--quiet", "--offline", "--keep-going", "--bins"])
            .args(["--message-format=json", "--target-dir"])
            .arg(&self.target)
            // That of the test's own build script.
            .env_remove("OUT_DIR")
            .current_dir(&self.root)
            .stderr(Stdio::piped())
            .output()
            .expect("cargo can be started");
        let mut ended: BTreeMap<String, Vec<Shown>> = BTreeMap::new();
        let lines = String::from_utf8_lossy(&output.stdout).into_owned();
        for line in lines.lines().filter(|line| line.starts_with('{')) {
            let line: Value = serde_json::from_str(line).expect("cargo prints JSON");
            let name = line["target"]["name"].as_str().unwrap_or_default().to_owned();
            let shown = shown(&line["message"]);
            if shown.is_some() || line["reason"] == "compiler-artifact" {
                ended.entry(name).or_default().extend(shown);
            }
        }
        Checked { ended, said: String::from_utf8_lossy(&output.stderr).into_owned() }
    }
}

/// What one command told.
struct Checked {
    /// The errors of each program that was compiled to the end.
    ended: BTreeMap<String, Vec<Shown>>,
    /// What cargo itself has to say.
    said: String,
}

/// An error, but for the one that only counts the others.
fn shown(message: &Value) -> Option<Shown> {
    let is_error = message["level"].as_str().is_some_and(|level| level.starts_with("error"));
    let rendered = message["rendered"].as_str()?.to_owned();
    let spans = message["spans"].as_array()?;
    if !is_error || spans.is_empty() && rendered.starts_with("error: aborting due to") {
        return None;
    }
    let primary = spans.iter().find(|span| span["is_primary"] == true);
    let message = message["message"].as_str().unwrap_or_default().to_owned();
    Some(Shown { message, rendered, mark: primary.and_then(place) })
}

/// Where the compiler points: for code out of a macro, where that was called.
fn place(span: &Value) -> Option<Mark> {
    let is_ours = span["file_name"].as_str().is_some_and(|file| file.starts_with("src/"));
    let called_from = &span["expansion"]["span"];
    if !is_ours && called_from.is_object() {
        return place(called_from);
    }
    let number = |value: &Value| value.as_u64().and_then(|it| usize::try_from(it).ok());
    let line = span["text"].as_array()?.first()?;
    let (from, to) = (number(&line["highlight_start"])?, number(&line["highlight_end"])?);
    let text: String = line["text"].as_str()?.chars().skip(from - 1).take(to - from).collect();
    Some(Mark { line: number(&span["line_start"])?, column: number(&span["column_start"])?, text })
}
