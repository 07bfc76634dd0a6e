//! Many programs in one crate, compiled with one command.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::program::Mark;
use crate::scratch::manifest;
use crate::sysroot::compiler_without_sources;
use crate::toolchain::current;

/// A crate whose programs are compiled apart from each other.
///
/// What the compiler said is kept beside it. A program that is the same, with the same crates below it, is not compiled
/// again: cargo does that for what compiles, and this for what does not.
#[derive(Debug)]
pub struct Many {
    root: PathBuf,
    target: PathBuf,
    /// As `RUSTC_WORKSPACE_WRAPPER`.
    compiler: PathBuf,
    /// By name; those with a slash are files of others.
    sources: BTreeMap<String, String>,
}

/// An error as the compiler shows it.
#[derive(Debug, Clone, Serialize, Deserialize)]
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

/// What the compiler said about a program, and what that depends on.
#[derive(Serialize, Deserialize)]
struct Said {
    key: u64,
    errors: Vec<Shown>,
}

impl Many {
    /// Writes the crate `name` below `directory`, for these programs and no others.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn write<'a>(
        directory: &Path,
        name: &str,
        programs: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let root = directory.join(name);
        fs::create_dir_all(root.join("src")).expect("the crate can be written");
        fs::write(root.join("Cargo.toml"), manifest(name)).expect("the crate can be written");
        // What the crates below it are is asked of this.
        fs::write(root.join("src/lib.rs"), "").expect("the crate can be written");
        let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
        fs::copy(lock, root.join("Cargo.lock")).expect("the workspace has a Cargo.lock");
        let sources = programs.into_iter().map(|(name, text)| (name.to_owned(), text.to_owned()));
        let compiler = compiler_without_sources(&root);
        Self { root, target: directory.join("target"), compiler, sources: sources.collect() }
    }

    /// The errors of each program that has any.
    ///
    /// A compiler that is killed on a busy machine has said nothing about its program, which is no consent: those are
    /// compiled again.
    ///
    /// # Panics
    /// When cargo cannot be started, or a program is neither compiled nor refused.
    pub fn errors(&self) -> BTreeMap<String, Vec<Shown>> {
        let keys = self.keys();
        let mut all: BTreeMap<String, Said> = self.kept();
        all.retain(|name, said| keys.get(name) == Some(&said.key));
        let mut missing: BTreeSet<String> =
            keys.keys().filter(|name| !all.contains_key(*name)).cloned().collect();
        println!("{} of {} programs are compiled", missing.len(), keys.len());
        let mut said = String::new();
        for _ in 0..3 {
            if missing.is_empty() {
                break;
            }
            self.write_programs(&missing);
            let checked = self.check(&["--keep-going", "--bins"]);
            for (name, errors) in checked.ended {
                if missing.remove(&name) {
                    all.insert(name.clone(), Said { key: keys[&name], errors });
                }
            }
            said += &checked.said;
        }
        assert!(missing.is_empty(), "nothing is known about {missing:?}; cargo said: {said}");
        let text = serde_json::to_string(&all).expect("it is JSON");
        fs::write(self.kept_in(), text).expect("what was said can be kept");
        let all = all.into_iter().map(|(name, said)| (name, said.errors));
        all.filter(|(_, errors)| !errors.is_empty()).collect()
    }

    fn kept_in(&self) -> PathBuf {
        self.root.join("said.json")
    }

    /// What was said the last time; nothing, if that cannot be read.
    fn kept(&self) -> BTreeMap<String, Said> {
        let text = fs::read_to_string(self.kept_in()).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// What the answer to each program depends on: its source, the files of others, and the crates below it.
    fn keys(&self) -> BTreeMap<String, u64> {
        let is_file_of_another = |name: &str| name.contains('/');
        let mut common = DefaultHasher::new();
        self.dependencies().hash(&mut common);
        self.sources.iter().filter(|(name, _)| is_file_of_another(name)).for_each(|it| {
            it.hash(&mut common);
        });
        let programs = self.sources.iter().filter(|(name, _)| !is_file_of_another(name));
        let key = |(name, source): (&String, &String)| {
            let mut hasher = common.clone();
            (name, source).hash(&mut hasher);
            (name.clone(), hasher.finish())
        };
        programs.map(key).collect()
    }

    /// A number that changes with the compiler, and with any crate that programs are compiled against.
    fn dependencies(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        current().hash(&mut hasher);
        let checked = self.check(&["--lib"]);
        assert!(!checked.artifacts.is_empty(), "cargo said: {}", checked.said);
        for artifact in checked.artifacts {
            fs::read(&artifact).expect("what cargo names is there").hash(&mut hasher);
        }
        hasher.finish()
    }

    /// Writes these programs, and the files of others.
    fn write_programs(&self, wanted: &BTreeSet<String>) {
        let directory = self.root.join("src/bin");
        if directory.exists() {
            fs::remove_dir_all(&directory).expect("earlier programs can go");
        }
        for (name, source) in &self.sources {
            if name.contains('/') || wanted.contains(name) {
                let file = directory.join(name).with_extension("rs");
                let parent = file.parent().expect("a file is in a directory");
                fs::create_dir_all(parent).expect("the crate can be written");
                fs::write(file, source).expect("the crate can be written");
            }
        }
    }

    fn check(&self, what: &[&str]) -> Checked {
        let output = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args(["check", "--quiet", "--offline"])
            .args(what)
            .args(["--message-format=json", "--target-dir"])
            .arg(&self.target)
            // That of the test's own build script.
            .env_remove("OUT_DIR")
            .env("RUSTC_WORKSPACE_WRAPPER", &self.compiler)
            .current_dir(&self.root)
            .stderr(Stdio::piped())
            .output()
            .expect("cargo can be started");
        let mut ended: BTreeMap<String, Vec<Shown>> = BTreeMap::new();
        let mut artifacts = BTreeSet::new();
        let lines = String::from_utf8_lossy(&output.stdout).into_owned();
        for line in lines.lines().filter(|line| line.starts_with('{')) {
            let line: Value = serde_json::from_str(line).expect("cargo prints JSON");
            let name = line["target"]["name"].as_str().unwrap_or_default().to_owned();
            let shown = shown(&line["message"]);
            if shown.is_some() || line["reason"] == "compiler-artifact" {
                ended.entry(name).or_default().extend(shown);
            }
            let files = line["filenames"].as_array().into_iter().flatten();
            artifacts.extend(files.filter_map(|file| Some(PathBuf::from(file.as_str()?))));
        }
        Checked { ended, artifacts, said: String::from_utf8_lossy(&output.stderr).into_owned() }
    }
}

/// What one command told.
struct Checked {
    /// The errors of each program that was compiled to the end.
    ended: BTreeMap<String, Vec<Shown>>,
    /// The files of crates that were compiled, now or before.
    artifacts: BTreeSet<PathBuf>,
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
