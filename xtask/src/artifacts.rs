//! Builds the tests of the whole workspace and finds their binaries.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde::Deserialize;

use crate::cargo::cargo;

/// A binary with tests in it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TestBinary {
    /// Package and target, as in `pgflow-sql-tests::sql`.
    pub(crate) name: String,
    pub(crate) package: String,
    /// Where the package is; its tests run there.
    pub(crate) dir: PathBuf,
    pub(crate) path: PathBuf,
}

/// What cargo says about something it has built.
#[derive(Deserialize)]
struct Artifact {
    manifest_path: PathBuf,
    package_id: String,
    target: Target,
    profile: Profile,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

/// All of them. The whole workspace at once, since features depend on what is built together, and
/// whatever is built with other features is built twice.
pub(crate) fn build_tests() -> Option<Vec<TestBinary>> {
    let output = build(&["--workspace"]).stderr(Stdio::inherit()).output().ok()?;
    found(&output)
}

/// Those of one package of another workspace, built without the network; otherwise what the compiler says.
pub(crate) fn build_package(
    workspace: &Path,
    package: &str,
    target: &Path,
) -> std::io::Result<Result<Vec<TestBinary>, String>> {
    let output = build(&["--package", package, "--lib", "--tests", "--offline"])
        .current_dir(workspace)
        .env("CARGO_TARGET_DIR", target)
        .output()?;
    Ok(found(&output).ok_or_else(|| String::from_utf8_lossy(&output.stderr).into_owned()))
}

fn build(what: &[&str]) -> Command {
    let mut command = cargo();
    command.args(["test", "--no-run", "--message-format=json-render-diagnostics"]).args(what);
    command
}

fn found(output: &Output) -> Option<Vec<TestBinary>> {
    output.status.success().then(|| read(&String::from_utf8_lossy(&output.stdout)))
}

fn read(messages: &str) -> Vec<TestBinary> {
    let artifacts = messages.lines().filter_map(|line| serde_json::from_str::<Artifact>(line).ok());
    artifacts.filter(|artifact| artifact.profile.test).filter_map(test_binary).collect()
}

fn test_binary(artifact: Artifact) -> Option<TestBinary> {
    let dir = artifact.manifest_path.parent()?.to_owned();
    let package = package(&artifact.package_id, &dir)?;
    let name = format!("{package}::{}", artifact.target.name);
    Some(TestBinary { name, package, dir, path: artifact.executable? })
}

/// From `path+file:///…/dir#name@0.1.0`, or `…/name#0.1.0` where the directory is called the same.
fn package(id: &str, dir: &Path) -> Option<String> {
    let (_, end) = id.rsplit_once('#')?;
    match end.split_once('@') {
        Some((name, _)) => Some(name.to_owned()),
        None => Some(dir.file_name()?.to_str()?.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_binaries_are_found_among_messages() {
        let messages = r#"{"reason":"build-script-executed","package_id":"p"}
{"reason":"compiler-artifact","package_id":"registry#sqlx@0.8.0","manifest_path":"/r/sqlx/Cargo.toml","target":{"name":"sqlx"},"profile":{"test":false},"executable":null}
{"reason":"compiler-artifact","package_id":"path+file:///w/tests/sql#pgflow-sql-tests@0.1.0","manifest_path":"/w/tests/sql/Cargo.toml","target":{"name":"sql"},"profile":{"test":true},"executable":"/t/sql-1"}
{"reason":"compiler-artifact","package_id":"path+file:///w/xtask#0.1.0","manifest_path":"/w/xtask/Cargo.toml","target":{"name":"xtask"},"profile":{"test":true},"executable":"/t/xtask-1"}
{"reason":"build-finished","success":true}"#;
        let found = read(messages);
        let names: Vec<&str> = found.iter().map(|binary| binary.name.as_str()).collect();
        assert_eq!(names, ["pgflow-sql-tests::sql", "xtask::xtask"]);
        assert_eq!(found[0].dir, PathBuf::from("/w/tests/sql"));
        assert_eq!(found[1].path, PathBuf::from("/t/xtask-1"));
    }
}
