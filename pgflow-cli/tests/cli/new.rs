//! A project that `pgflow new` makes compiles, runs and passes its test.

use std::path::{Path, PathBuf};
use std::process::Command;

/// `cargo …` in a project, offline and with the crates that are compiled already.
fn cargo(project: &Path, arguments: &[&str]) -> String {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("a target directory");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(arguments).arg("--offline").current_dir(project);
    cargo.env("CARGO_TARGET_DIR", target).env_remove("CI").env_remove("DATABASE_URL");
    let output = cargo.output().expect("cargo runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

#[test]
fn two_commands_and_it_works() {
    let within = Path::new(env!("CARGO_TARGET_TMPDIR")).join("new");
    let project = within.join("hello-flow");
    let _ = std::fs::remove_dir_all(&project);
    std::fs::create_dir_all(&within).expect("a directory");
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let new = || {
        let mut new = Command::new(env!("CARGO_BIN_EXE_pgflow"));
        new.args(["new", "hello-flow", "--within"]).arg(&within).arg("--local").arg(&workspace);
        new.output().expect("the program runs")
    };
    assert!(new().status.success());
    assert_eq!(new().status.code(), Some(1), "what is there is not written over");
    // The same versions as here: nothing has to be fetched.
    std::fs::copy(workspace.join("Cargo.lock"), project.join("Cargo.lock")).expect("a lock file");
    assert!(cargo(&project, &["run"]).contains("Hello, Ann!\nHello, Bob!"));
    assert!(
        cargo(&project, &["test"])
            .contains("everybody_is_greeted_although_one_attempt_fails ... ok")
    );
    let migrations: Vec<PathBuf> = project
        .join("migrations")
        .read_dir()
        .expect("migrations")
        .map(|it| it.expect("a file").path())
        .collect();
    assert_eq!(migrations.len(), 1, "{migrations:?}");
    assert!(project.join("app.db").exists() && project.join("pgflow.lock").exists());
}
