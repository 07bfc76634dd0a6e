//! Two branches that both wrote migrations, as docs/migrations.md tells what to do about them.

use std::process::{Command, Output};

use pgflow_build_tests::{Scratch, commit, git};

const THEIRS: &str = "migrations/0002_create_mail_v2.sql";

/// A flow whose steps are these, a line each, and its options.
fn flow(steps: &[&str]) -> String {
    let step = |name: &&str| {
        format!("    #[step]\n    pub async fn {name}() -> Result<u8> {{ Ok(1) }}\n\n")
    };
    let steps: String = steps.iter().map(step).collect();
    format!("#[pgflow::flow]\npub mod mail {{\n{steps}}}\n")
}

/// `main` and `mine`, which is checked out, both made version 2 of a flow, each in its own way. The files
/// have different names, so the commit that is checked out has not that of `main`.
fn branches(theirs: &[&str], mine: &[&str]) -> Scratch {
    let scratch = Scratch::new(&[("src/lib.rs", &flow(&["send"]))]);
    git(&scratch.dir, &["init", "-q", "-b", "main"]);
    scratch.draft();
    commit(&scratch.dir);
    git(&scratch.dir, &["checkout", "-qb", "mine"]);
    scratch.write("migrations/0002_users.sql", "create table users ();\n");
    write(&scratch, mine);
    git(&scratch.dir, &["checkout", "-q", "main"]);
    write(&scratch, theirs);
    git(&scratch.dir, &["checkout", "-q", "mine"]);
    scratch
}

fn write(scratch: &Scratch, steps: &[&str]) {
    scratch.write("src/lib.rs", &flow(steps));
    scratch.draft();
    commit(&scratch.dir);
}

/// What stops in the middle, because both sides changed the same lines.
fn stops(scratch: &Scratch, args: &[&str]) {
    let ran = run(scratch, args);
    assert!(!ran.status.success(), "git {args:?} should have stopped: {ran:?}");
}

fn run(scratch: &Scratch, args: &[&str]) -> Output {
    let identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
    let ran = Command::new("git").current_dir(&scratch.dir).args(identity).args(args).output();
    ran.expect("git runs")
}

/// A file as a revision has it.
fn at(scratch: &Scratch, revision: &str, file: &str) -> String {
    let ran = run(scratch, &["show", &format!("{revision}:{file}")]);
    assert!(ran.status.success(), "{ran:?}");
    String::from_utf8(ran.stdout).expect("text")
}

/// The steps of "After a merge": their lock, not my migration, the next number for a file of mine, and a
/// build of each save on the way to what both sides want. Returns the names of the files.
fn resolve(scratch: &Scratch, mine: &[&str], both: &[&str]) -> Vec<String> {
    let theirs = |file: &str| at(scratch, "main", file);
    scratch.write("pgflow.lock", &theirs("pgflow.lock"));
    scratch.write("migrations/0003_users.sql", &scratch.read("migrations/0002_users.sql"));
    for mine in ["migrations/0002_users.sql", "migrations/0003_create_mail_v2.sql"] {
        scratch.remove(mine);
    }
    for steps in [mine, &["send", "half"], both, both] {
        scratch.write("src/lib.rs", &flow(steps));
        scratch.draft();
        assert_eq!(scratch.read(THEIRS), theirs(THEIRS), "{steps:?}: theirs stays as it is");
    }
    scratch.files().into_keys().collect()
}

const NEXT: [&str; 4] = [
    "0001_create_mail.sql",
    "0002_create_mail_v2.sql",
    "0003_users.sql",
    "0004_create_mail_v3.sql",
];

#[test]
fn a_merge_keeps_what_the_other_branch_committed() {
    let scratch = branches(&["send", "theirs"], &["mine", "send"]);
    stops(&scratch, &["merge", "-q", "main"]);
    let files = resolve(&scratch, &["mine", "send"], &["mine", "send", "theirs"]);
    assert_eq!(files, NEXT);
    assert!(scratch.read("migrations/0004_create_mail_v3.sql").contains("'mine'"));
    let why = scratch.migrations().undo().map(|undone| undone.created);
    assert_eq!(why.expect("the draft"), ["mail__v3"]);
    let why = scratch.migrations().undo().expect_err("theirs").to_string();
    assert!(why.starts_with("migration `0002_create_mail_v2.sql` is committed"), "{why}");
    scratch.draft();
    commit(&scratch.dir);
    assert!(scratch.draft().is_empty(), "nothing is left to do");
}

#[test]
fn what_is_picked_from_another_branch_is_committed() {
    let scratch = branches(&["send", "theirs"], &["mine", "send"]);
    stops(&scratch, &["cherry-pick", "main"]);
    let files = resolve(&scratch, &["mine", "send"], &["mine", "send", "theirs"]);
    assert_eq!(files, NEXT);
}

#[test]
fn a_rebase_keeps_what_it_is_based_on() {
    let scratch = branches(&["send", "theirs"], &["mine", "send"]);
    stops(&scratch, &["rebase", "-q", "main"]);
    let files = resolve(&scratch, &["mine", "send"], &["mine", "send", "theirs"]);
    assert_eq!(files, NEXT);
    git(&scratch.dir, &["add", "-A"]);
    git(&scratch.dir, &["-c", "core.editor=true", "rebase", "--continue"]);
    assert!(scratch.draft().is_empty(), "nothing is left to do");
}

/// The version is on both sides; its types come from the side whose file it is.
#[test]
fn a_version_is_known_as_the_side_has_it_that_made_it() {
    let scratch = branches(&["send", "theirs"], &["mine", "send"]);
    stops(&scratch, &["merge", "-q", "main"]);
    resolve(&scratch, &["send", "theirs"], &["send", "theirs"]);
    assert_eq!(scratch.read("pgflow.lock"), at(&scratch, "main", "pgflow.lock"));
    scratch.write("src/lib.rs", &flow(&["send", "theirs", "more"]));
    scratch.draft();
    let lock = scratch.read("pgflow.lock");
    let (_, second) = lock.split_once("\nflow mail v2").expect("version 2");
    let (second, _) = second.split_once("\nflow mail v3").expect("version 3");
    assert!(second.contains("step theirs : u8") && !second.contains("mine"), "{lock}");
}
