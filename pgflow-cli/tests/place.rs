//! Where the commands about the source look: for the repository, for the crates of a workspace, and for
//! the files that build.rs names.

mod support;

use std::process::Command;

use pgflow_build_tests::{Scratch, commit, git};
use support::{cargo_pgflow, cargo_pgflow_with};

const MANIFEST: &str = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";

/// A flow of one step.
fn flow(name: &str, step: &str) -> String {
    format!(
        "#[pgflow::flow]\npub mod {name} {{\n    #[step] pub async fn {step}() -> Result<u8> {{ Ok(1) }}\n}}\n"
    )
}

/// Hooks of a linked worktree run like this: with `GIT_DIR`, and without a work tree.
#[test]
fn what_a_hook_tells_git_does_not_hide_what_is_committed() {
    let scratch = Scratch::new(&[
        ("main/app/Cargo.toml", MANIFEST),
        ("main/app/src/lib.rs", &flow("mail", "send")),
    ]);
    let (main, linked) = (scratch.dir.join("main"), scratch.dir.join("linked"));
    git(&main, &["init", "-q"]);
    assert_eq!(cargo_pgflow(&main.join("app"), &["migrate"]).code(), Some(0));
    commit(&main);
    git(&main, &["worktree", "add", "-q", linked.to_str().expect("UTF-8")]);
    let mut asked = Command::new("git");
    asked.current_dir(&linked).args(["rev-parse", "--absolute-git-dir"]);
    let git_dir = String::from_utf8(asked.output().expect("git runs").stdout).expect("UTF-8");
    let env = [("GIT_DIR", git_dir.trim_end()), ("GIT_PREFIX", "")];

    scratch.write("linked/app/src/lib.rs", &flow("mail", "post"));
    let ran = cargo_pgflow_with(&env, &linked.join("app"), &["migrate"]);
    assert_eq!(
        ran.stdout(),
        "wrote migrations/0002_create_mail_v2.sql\nwrote pgflow.lock\n",
        "{}",
        ran.text()
    );
    let first = "app/migrations/0001_create_mail.sql";
    assert_eq!(scratch.read(&format!("linked/{first}")), scratch.read(&format!("main/{first}")));
    let ran = cargo_pgflow_with(&env, &linked.join("app"), &["diff"]);
    assert!(ran.stdout().starts_with("### Flow `mail`: version 1 → 2"), "{}", ran.text());
}

#[test]
fn a_workspace_whose_root_is_a_package_is_checked_as_a_whole() {
    let root = MANIFEST.replace("app", "root") + "[workspace]\nmembers = [\"app\"]\n";
    let scratch = Scratch::new(&[
        ("src/lib.rs", ""),
        ("app/Cargo.toml", MANIFEST),
        ("app/src/lib.rs", &flow("mail", "send")),
        ("app/pgflow.lock", ""),
    ]);
    scratch.write("Cargo.toml", &root);
    for dir in ["", "src"] {
        let ran = cargo_pgflow(&scratch.dir.join(dir), &["check"]);
        assert_eq!(ran.code(), Some(1), "{}", ran.text());
        assert!(ran.text().contains("flow `mail` has no migration"), "{}", ran.text());
    }
    assert_eq!(cargo_pgflow(&scratch.dir, &["migrate"]).code(), Some(0));
    let ran = cargo_pgflow(&scratch.dir, &["check"]);
    assert_eq!((ran.code(), &*ran.stdout()), (Some(0), "1 flow, up to date\n"), "{}", ran.text());

    // With flows in both, what is done to one crate at a time wants its name.
    scratch.write("src/lib.rs", &flow("post", "send"));
    scratch.migrate();
    let ran = cargo_pgflow(&scratch.dir, &["check"]);
    assert_eq!((ran.code(), &*ran.stdout()), (Some(0), "2 flows, up to date\n"), "{}", ran.text());
    let ran = cargo_pgflow(&scratch.dir, &["undo"]);
    let words = "there are several crates here\nhelp: choose one with `--package`";
    assert!(ran.code() != Some(0) && ran.text().contains(words), "{}", ran.text());
}

#[test]
fn a_workspace_without_flows_says_how_it_gets_some() {
    let scratch = Scratch::new(&[("app/Cargo.toml", MANIFEST), ("app/src/lib.rs", "")]);
    scratch.write("Cargo.toml", "[workspace]\nmembers = [\"app\"]\n");
    let ran = cargo_pgflow(&scratch.dir, &["check"]);
    let help = "\nhelp: one that does calls `pgflow_build` in its build.rs";
    assert!(ran.code() == Some(1) && ran.text().contains(help), "{}", ran.text());
}

#[test]
fn a_new_crate_that_is_a_workspace_of_its_own_is_looked_at() {
    let scratch = Scratch::new(&[("src/lib.rs", &flow("mail", "send"))]);
    scratch.write("Cargo.toml", &format!("{MANIFEST}[workspace]\n"));
    assert_eq!(cargo_pgflow(&scratch.dir, &["migrate"]).code(), Some(0));
    assert_eq!(scratch.files().len(), 1);
}

#[test]
fn what_build_rs_said_about_the_source_is_known_from_the_lock() {
    let scratch = Scratch::new(&[
        ("src/lib.rs", "pub mod made { include!(concat!(env!(\"OUT_DIR\"), \"/made.rs\")); }\n"),
        ("flows/root.rs", &flow("mail", "send")),
    ]);
    let build = || scratch.migrations().root("flows/root.rs").no_flows_in("src/lib.rs");
    build().migrate().expect("written");
    build().keep().expect("kept");
    let ran = cargo_pgflow(&scratch.dir, &["check"]);
    assert_eq!((ran.code(), &*ran.text()), (Some(0), "1 flow, up to date\n"));
    let ran = cargo_pgflow(&scratch.dir, &["migrate", "--drop", "mail"]);
    assert!(ran.text().contains("flow `mail` is still in the source"), "{}", ran.text());
    let ran = cargo_pgflow(&scratch.dir, &["migrate"]);
    assert_eq!((ran.code(), &*ran.text()), (Some(0), ""));

    // Once build.rs says something else, so does the lock.
    scratch.write("src/lib.rs", &flow("mail", "send"));
    scratch.migrate();
    assert!(!scratch.read("pgflow.lock").contains("root"), "{}", scratch.read("pgflow.lock"));
}
