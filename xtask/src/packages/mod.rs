//! `cargo xtask packages`: the crates that users need can be packaged, with everything they need inside.

mod contents;
mod manifest;

use std::path::Path;
use std::process::{Command, Stdio};

use clap::Args;
use serde::Deserialize;

use crate::cargo::cargo;
use contents::Contents;
use manifest::Manifest;

/// The crates that users need are those that do not say `publish = false`. They are packaged together, without
/// the network, since none of them may be published yet.
#[derive(Args)]
pub(crate) struct Options {
    /// Compile what was packaged as well; takes minutes.
    #[arg(long)]
    verify: bool,
}

#[derive(Deserialize)]
struct Workspace {
    packages: Vec<Manifest>,
}

pub(crate) fn run(options: &Options) -> Result<(), String> {
    let packages = packages_of_users()?;
    let mut problems = Vec::new();
    for package in &packages {
        let contents = contents_of(package)?;
        let found = package.problems().into_iter().chain(contents.problems());
        problems.extend(found.map(|problem| format!("{}: {problem}", package.name)));
    }
    if !problems.is_empty() {
        return Err(problems.join("\n"));
    }
    let mut command = cargo();
    command.args(["package", "--offline", "--quiet", "--allow-dirty"]);
    command.args(packages.iter().flat_map(|package| ["--package", &package.name]));
    if !options.verify {
        command.arg("--no-verify");
    }
    output_of(&mut command)?;
    println!("packaged: {}", names(&packages));
    Ok(())
}

fn names(packages: &[Manifest]) -> String {
    packages.iter().map(|package| package.name.as_str()).collect::<Vec<_>>().join(", ")
}

fn packages_of_users() -> Result<Vec<Manifest>, String> {
    let metadata =
        output_of(cargo().args(["metadata", "--no-deps", "--offline", "--format-version", "1"]))?;
    let workspace: Workspace =
        serde_json::from_str(&metadata).map_err(|error| error.to_string())?;
    Ok(workspace.packages.into_iter().filter(Manifest::is_for_users).collect())
}

fn contents_of(package: &Manifest) -> Result<Contents, String> {
    let dir = package.path.parent().unwrap_or(Path::new("."));
    let list = ["package", "--list", "--offline", "--quiet", "--allow-dirty", "--package"];
    let packaged = output_of(cargo().args(list).arg(&package.name))?;
    let tracked = output_of(Command::new("git").args(["ls-files"]).current_dir(dir))?;
    Contents::read(dir, lines(&packaged), lines(&tracked))
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

/// What a command prints; what it complains about is shown when it fails.
fn output_of(command: &mut Command) -> Result<String, String> {
    let output = command.stdin(Stdio::null()).output();
    let failed = |why: &dyn std::fmt::Display| format!("{command:?}: {why}");
    let output = output.map_err(|error| failed(&error))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(failed(&String::from_utf8_lossy(&output.stderr)))
    }
}
