//! A project that `pgflow new` makes compiles, runs and passes its test.

use std::path::Path;
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
    assert_eq!(migrations(&project), ["0001_create_greeting.sql"]);
    assert!(project.join("app.db").exists() && project.join("pgflow.lock").exists());
    what_it_has_applied_is_permanent(&project);
}

#[test]
fn names_that_no_crate_can_have_are_refused() {
    let within = Path::new(env!("CARGO_TARGET_TMPDIR"));
    for (name, why) in [
        ("fn", "it has a meaning in Rust"),
        ("Self", "it has a meaning in Rust"),
        ("proc-macro", "it has a meaning in Rust"),
        ("serde", "the project depends on a crate of that name"),
        ("tokio", "the project depends on a crate of that name"),
        ("pgflow", "the project depends on a crate of that name"),
        ("pgflow_build", "the project depends on a crate of that name"),
        ("build", "cargo has a directory of that name for what it builds"),
        ("deps", "cargo has a directory of that name for what it builds"),
        ("examples", "cargo has a directory of that name for what it builds"),
        ("incremental", "cargo has a directory of that name for what it builds"),
        ("nul", "it is a device of Windows"),
    ] {
        let mut new = Command::new(env!("CARGO_BIN_EXE_pgflow"));
        let new = new.args(["new", name, "--within"]).arg(within).output();
        let new = new.expect("the program runs");
        let said = String::from_utf8_lossy(&new.stderr).into_owned();
        assert_eq!(new.status.code(), Some(2), "{name}: {said}");
        assert!(said.contains(&format!("a project cannot be called `{name}`: {why}")), "{said}");
        assert!(!within.join(name).join("Cargo.toml").exists(), "{name}");
    }
}

/// What the source of the project uses itself is no other crate then.
#[test]
fn names_that_the_project_uses_itself_work() {
    let within = Path::new(env!("CARGO_TARGET_TMPDIR")).join("named");
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for name in ["greeting", "job"] {
        let project = within.join(name);
        let _ = std::fs::remove_dir_all(&project);
        std::fs::create_dir_all(&within).expect("a directory");
        let mut new = Command::new(env!("CARGO_BIN_EXE_pgflow"));
        new.args(["new", name, "--within"]).arg(&within).arg("--local").arg(&workspace);
        assert!(new.output().expect("the program runs").status.success());
        std::fs::copy(workspace.join("Cargo.lock"), project.join("Cargo.lock")).expect("a file");
        cargo(&project, &["build", "--all-targets"]);
    }
}

/// From the program by way of its note to the next build: a change of the flow is a file of its own, and a draft until it is
/// applied too.
fn what_it_has_applied_is_permanent(project: &Path) {
    let read = |name: &str| std::fs::read_to_string(project.join(name)).expect("a file");
    let first = read("migrations/0001_create_greeting.sql");
    let save = |from: &str, to: &str| {
        let source = read("src/lib.rs");
        assert_eq!(source.matches(from).count(), 1, "{source}");
        std::fs::write(project.join("src/lib.rs"), source.replace(from, to)).expect("saved");
        cargo(project, &["build"]);
        migrations(project)
    };
    let both = ["0001_create_greeting.sql", "0002_create_greeting_v2.sql"];
    let all_greetings = "    /// All greetings together.";
    let step = |name: &str| {
        format!(
            "    #[step]\n    pub async fn {name}() -> Result<u8> {{ Ok(1) }}\n\n{all_greetings}"
        )
    };
    assert_eq!(save(all_greetings, &step("bel")), both);
    assert_eq!(save("fn bel()", "fn bell()"), both, "nobody has the second yet");
    let second = read("migrations/0002_create_greeting_v2.sql");
    assert!(second.contains("'bell'") && !second.contains("'bel'"), "{second}");

    assert!(cargo(project, &["run"]).contains("Hello, Ann!\nHello, Bob!"));
    let third = save(all_greetings, &step("cake"));
    assert_eq!(third, [&both[..], &["0003_create_greeting_v3.sql"]].concat());
    assert_eq!(read("migrations/0001_create_greeting.sql"), first);
    assert_eq!(read("migrations/0002_create_greeting_v2.sql"), second);
}

fn migrations(project: &Path) -> Vec<String> {
    let files = project.join("migrations").read_dir().expect("migrations");
    let name = |it: std::io::Result<std::fs::DirEntry>| it.expect("a file").file_name();
    let mut names: Vec<_> = files.map(|it| name(it).to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
