//! `pgflow new`.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use crate::error::Error;
use crate::out;

/// The files of a project, as templates: `{{name}}` is the project's, `{{crate}}` that of its library,
/// `{{pgflow}}` and `{{pgflow_build}}` say where the crates come from.
const FILES: &[(&str, &str)] = &[
    ("Cargo.toml", include_str!("new/Cargo.toml.template")),
    (".gitignore", include_str!("new/gitignore.template")),
    ("README.md", include_str!("new/README.md.template")),
    ("build.rs", include_str!("new/build.rs.template")),
    ("src/lib.rs", include_str!("new/lib.rs.template")),
    ("src/main.rs", include_str!("new/main.rs.template")),
    ("tests/greeting.rs", include_str!("new/test.rs.template")),
];

/// What to make.
#[derive(Args)]
#[command(after_help = "\
Example:
  pgflow new hello --local ../pgflow   with the pgflow of a checkout
  cd hello
  cargo run                            a worker and a run, in a file of SQLite
  cargo test                           the flow, in virtual time

Without --local, cargo takes pgflow from its registry, and finds it there once this version is published.")]
pub(crate) struct New {
    /// The name of the project, and of its directory.
    #[arg(value_parser = parse_name)]
    name: String,

    /// Make the directory in this one.
    #[arg(long, value_name = "DIR", default_value = ".")]
    within: PathBuf,

    /// Take pgflow from this checkout instead of from the registry.
    #[arg(long, value_name = "DIR")]
    local: Option<PathBuf>,

    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

/// Names of packages, as cargo takes them.
fn parse_name(name: &str) -> Result<String, String> {
    let is_fine = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let begins_well = name.starts_with(|c: char| c.is_ascii_alphabetic());
    if begins_well && name.chars().all(is_fine) {
        return Ok(name.to_owned());
    }
    Err("a name begins with a letter and has letters, digits, `-` and `_` only".to_owned())
}

/// Words of Rust, and crates that are always there: no crate can have their names.
const TAKEN: &str = "abstract alloc as async await become box break const continue core crate do dyn else enum extern \
    false final fn for gen if impl in let loop macro match mod move mut override priv proc_macro pub ref return self \
    static std struct super test trait true try type typeof unsafe unsized use virtual where while yield";

/// Where cargo puts what it builds: no program can be called like that.
const DIRECTORIES: &str = "build deps examples incremental";

/// What Windows takes for something else than a file.
const DEVICES: &str = "con prn aux nul com1 com2 com3 com4 com5 com6 com7 com8 com9 lpt1 lpt2 lpt3 lpt4 lpt5 lpt6 lpt7 lpt8 lpt9";

/// Names that cargo or the compiler would refuse later.
fn refuse_taken(name: &str) -> Result<(), Error> {
    let (manifest, krate) = (FILES[0].1, name.replace('-', "_"));
    let dependencies = manifest.split_once("[dependencies]").map_or("", |(_, rest)| rest);
    let mut needed = dependencies.lines().filter_map(|line| line.split_once(" = "));
    let is_in = |words: &str| words.split(' ').any(|word| word == krate.to_lowercase());
    let why = if is_in(TAKEN) {
        "it has a meaning in Rust"
    } else if is_in(DIRECTORIES) {
        "cargo has a directory of that name for what it builds"
    } else if is_in(DEVICES) {
        "it is a device of Windows"
    } else if needed.any(|(crate_of, _)| crate_of.replace('-', "_") == krate) {
        "the project depends on a crate of that name"
    } else {
        return Ok(());
    };
    Err(Error::Usage(format!("a project cannot be called `{name}`: {why}")))
}

pub(crate) fn run(command: &New) -> Result<bool, Error> {
    refuse_taken(&command.name)?;
    let directory = command.within.join(&command.name);
    if directory.exists() {
        let text = format!("{} is there already; nothing was written", directory.display());
        return Err(Error::Refused(text));
    }
    let mut written = Vec::new();
    for (name, template) in FILES {
        write(&directory.join(name), &command.fill(template)?)?;
        written.push(*name);
    }
    if command.json {
        out::json(json!({ "directory": directory, "files": written }))?;
    } else {
        out::line(format_args!("{} files in {}", written.len(), directory.display()))?;
        out::line(format_args!("now: cd {} && cargo run", directory.display()))?;
    }
    Ok(true)
}

impl New {
    fn fill(&self, template: &str) -> Result<String, Error> {
        Ok(template
            .replace("{{name}}", &self.name)
            .replace("{{crate}}", &self.name.replace('-', "_"))
            .replace("{{pgflow}}", &self.source("pgflow")?)
            .replace("{{pgflow_build}}", &self.source("pgflow-build")?))
    }

    /// Where a crate of ours comes from, as a table of TOML without its braces.
    fn source(&self, package: &str) -> Result<String, Error> {
        let version = format!("version = \"{}\"", env!("CARGO_PKG_VERSION"));
        let Some(local) = &self.local else { return Ok(version) };
        let path = local.join(package);
        let path = path.canonicalize().map_err(|source| Error::Read { path, source })?;
        Ok(format!("{version}, path = {:?}", path.to_string_lossy()))
    }
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    let failed = |source| Error::Write { path: path.to_owned(), source };
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory).map_err(failed)?;
    }
    std::fs::write(path, text).map_err(failed)
}
