//! A migration is rewritten until it is committed or applied, and never after.

use pgflow_build_tests::{Scratch, commit, git};

/// A flow whose steps are these.
fn flow(name: &str, steps: &[&str]) -> String {
    let step =
        |name: &&str| format!("    #[step] pub async fn {name}() -> Result<u8> {{ Ok(1) }}\n");
    let steps: String = steps.iter().map(step).collect();
    format!("#[pgflow::flow]\npub mod {name} {{\n{steps}}}\n")
}

fn names(scratch: &Scratch) -> Vec<String> {
    scratch.files().into_keys().collect()
}

/// Saves a source, as an editor does that builds on each save.
fn save(scratch: &Scratch, source: &str) -> Vec<String> {
    scratch.write("src/lib.rs", source);
    let _ = scratch.migrations().migrate();
    names(scratch)
}

fn repository(source: &str) -> Scratch {
    let scratch = Scratch::new(&[("src/lib.rs", source)]);
    git(&scratch.dir, &["init", "-q"]);
    scratch
}

/// Both witnesses: what makes a crate, and what makes its migrations permanent.
type Witness = (&'static str, fn(&str) -> Scratch, fn(&Scratch));

const WITNESSES: [Witness; 2] = [
    ("git", repository, |scratch| commit(&scratch.dir)),
    (
        "the lock",
        |source| Scratch::new(&[("src/lib.rs", source)]),
        |scratch| assert!(scratch.migrations().keep().expect("kept")),
    ),
];

#[test]
fn each_save_rewrites_what_nobody_has_yet() {
    for (name, new, keep) in WITNESSES {
        let scratch = new(&flow("mail", &["sen"]));
        assert_eq!(scratch.draft(), ["0001_create_mail.sql", "pgflow.lock"], "{name}");
        assert_eq!(save(&scratch, &flow("mail", &["send"])), ["0001_create_mail.sql"], "{name}");
        assert!(scratch.read("migrations/0001_create_mail.sql").contains("'send'"), "{name}");
        keep(&scratch);

        let first = scratch.read("migrations/0001_create_mail.sql");
        for steps in [&["send", "lo"][..], &["send", "log"], &["log"], &["send", "log", "tell"]] {
            let expected = ["0001_create_mail.sql", "0002_create_mail_v2.sql"];
            assert_eq!(save(&scratch, &flow("mail", steps)), expected, "{name} {steps:?}");
            assert!(scratch.draft().is_empty(), "{name}: a second build writes nothing");
        }
        assert_eq!(scratch.read("migrations/0001_create_mail.sql"), first, "{name}");
        assert!(scratch.read("migrations/0002_create_mail_v2.sql").contains("'tell'"), "{name}");
        keep(&scratch);
        assert_eq!(save(&scratch, &flow("mail", &["send"])).len(), 3, "{name}");
    }
}

#[test]
fn a_change_that_is_taken_back_leaves_nothing_behind() {
    for (name, new, keep) in WITNESSES {
        let scratch = new(&flow("mail", &["send"]));
        scratch.draft();
        keep(&scratch);
        let before = (scratch.files(), scratch.read("pgflow.lock"));
        save(&scratch, &flow("mail", &["send", "log"]));
        let tuned = flow("mail", &["send"]).replace("#[step]", "#[step(timeout = 9)]");
        assert_eq!(
            save(&scratch, &tuned),
            ["0001_create_mail.sql", "0002_tune_mail.sql"],
            "{name}"
        );
        let two = flow("mail", &["send"]) + &flow("post", &["send"]);
        assert_eq!(
            save(&scratch, &two),
            ["0001_create_mail.sql", "0002_create_post.sql"],
            "{name}"
        );
        save(&scratch, &flow("mail", &["send"]));
        assert_eq!((scratch.files(), scratch.read("pgflow.lock")), before, "{name}");
    }
}

#[test]
fn a_draft_of_another_flow_is_left_alone() {
    for (name, new, _) in WITNESSES {
        let scratch = new(&(flow("mail", &["a"]) + &flow("post", &["a"])));
        scratch.draft();
        let post = scratch.read("migrations/0002_create_post.sql");
        let plan = || scratch.migrations().plan().expect("a plan");
        scratch.write("src/lib.rs", &(flow("mail", &["b"]) + &flow("post", &["a"])));
        let missing: Vec<_> = plan().files.into_iter().map(|(name, _)| name).collect();
        assert_eq!(missing, ["0001_create_mail.sql"], "{name}");
        scratch.draft();
        save(&scratch, &flow("post", &["a"]));
        assert_eq!(names(&scratch), ["0002_create_post.sql"], "{name}");
        assert_eq!(scratch.read("migrations/0002_create_post.sql"), post, "{name}");
    }
}

#[test]
fn code_that_is_half_typed_changes_nothing() {
    let whole = flow("mail", &["send"]) + "pub struct Letter;\n";
    for (name, new, _) in WITNESSES {
        let scratch = new(&whole);
        scratch.draft();
        let before = (scratch.files(), scratch.read("pgflow.lock"));
        for half in [
            whole.replace("Ok(1) }", "Ok(1"),
            whole.replace("fn send", "fn sendd").replace("Ok(1)", "let x = ; Ok(1)"),
            whole.replace("fn send", "fn sendd").replace("pub struct Letter;", "pub strct Letter;"),
            whole.replace("#[step]", "#[step(timeout = 4, )] #[step("),
            whole.replace("#[step]", "#[step(timeuot = 4)]"),
            whole.replace("mod mail {", "mod mail"),
            whole.replace("#[pgflow::flow]", "#[pgflow::flow"),
            whole.replace("#[pgflow::flow]", "mod soon;\n#[pgflow::flow(timeout = 3)]"),
        ] {
            scratch.write("src/lib.rs", &half);
            let plan = scratch.migrations().plan().expect("a plan");
            assert!(plan.gone.is_empty(), "{name}: {half}");
            let why = scratch.migrations().migrate().expect_err(&half).to_string();
            assert!(why.starts_with("src/lib.rs:"), "{name}: {why}");
            let after = (scratch.files(), scratch.read("pgflow.lock"));
            assert_eq!(after, before, "{name}: {half}");
        }
    }
}

#[test]
fn a_version_that_a_module_asks_for_is_permanent() {
    for (name, new, _) in WITNESSES {
        let scratch = new(&flow("mail", &["send"]));
        scratch.draft();
        let kept = flow("mail", &["send"]).replace("flow]", "flow(slug = \"mail\", version = 1)]");
        let kept = kept.replace("mod mail", "mod mail_v1");
        let both = |steps: &[&str]| kept.clone() + &flow("mail", steps);
        for steps in [&["post"][..], &["post", "log"]] {
            let expected = ["0001_create_mail.sql", "0002_create_mail_v2.sql"];
            assert_eq!(save(&scratch, &both(steps)), expected, "{name}");
        }
    }
}

#[test]
fn what_was_written_elsewhere_is_not_ours_to_rewrite() {
    let scratch = Scratch::new(&[("src/lib.rs", &flow("mail", &["send"]))]);
    scratch.draft();
    assert!(scratch.read("pgflow.lock").contains("\ndrafts "));
    let copy = Scratch::new(&[
        ("src/lib.rs", &flow("mail", &["post"])),
        ("pgflow.lock", &scratch.read("pgflow.lock")),
        ("migrations/0001_create_mail.sql", &scratch.read("migrations/0001_create_mail.sql")),
    ]);
    assert_eq!(copy.draft(), ["0002_create_mail_v2.sql", "pgflow.lock"]);
}

#[test]
fn a_crate_that_git_ignores_is_a_crate_without_git() {
    let scratch = repository(&flow("mail", &["send"]));
    scratch.write(".gitignore", "pgflow.lock\nmigrations\n");
    scratch.draft();
    scratch.migrations().keep().expect("kept");
    assert_eq!(save(&scratch, &flow("mail", &["post"])).len(), 2);
}

#[test]
fn what_a_database_has_is_permanent() {
    for (name, new, _) in WITNESSES {
        let scratch = new(&flow("mail", &["send"]));
        scratch.draft();
        let lock = scratch.read("pgflow.lock");
        let (_, rest) = lock.split_once("sha256 ").expect("a checksum");
        let checksum = rest.lines().next().expect("a line");
        scratch
            .write("target/pgflow/scratch.applied", &format!("0001_create_mail.sql {checksum}\n"));
        scratch.write("src/lib.rs", &flow("mail", &["post"]));
        let migrations = || scratch.migrations().noted_in(&scratch.dir.join("target"), "scratch");
        migrations().migrate().expect("written");
        assert_eq!(names(&scratch), ["0001_create_mail.sql", "0002_create_mail_v2.sql"], "{name}");
        assert_eq!(migrations().undo().expect("undone").created, ["mail__v2"], "{name}");
        assert_eq!(
            migrations().undo().expect("undone, applied as it is").created,
            ["mail"],
            "{name}"
        );
        assert!(names(&scratch).is_empty(), "{name}");
    }
}

#[test]
fn undo_goes_back_to_what_is_committed_and_no_further() {
    for (name, new, keep) in WITNESSES {
        let scratch = new(&flow("mail", &["send"]));
        scratch.draft();
        keep(&scratch);
        let before = (scratch.files(), scratch.read("pgflow.lock"));
        save(&scratch, &flow("mail", &["send", "log"]));
        let undone = scratch.migrations().undo().expect("undone");
        assert!(undone.file.ends_with("0002_create_mail_v2.sql"), "{name}: {undone:?}");
        assert_eq!(undone.created, ["mail__v2"], "{name}");
        assert_eq!(scratch.files(), before.0, "{name}");
        scratch.write("src/lib.rs", &flow("mail", &["send"]));
        scratch.draft();
        assert_eq!(scratch.read("pgflow.lock"), before.1, "{name}");
        let why = scratch.migrations().undo().expect_err("permanent").to_string();
        assert!(why.starts_with("migration `0001_create_mail.sql` is "), "{name}: {why}");
        let helps = [
            "help: undo it with git, or change the source: that writes another migration",
            "help: change the source: that writes another migration",
        ];
        assert!(helps.iter().any(|help| why.ends_with(help)), "{name}: {why}");
    }
}

#[test]
fn a_drop_can_be_undone() {
    for (name, new, keep) in WITNESSES {
        let scratch = new(&flow("mail", &["send"]));
        scratch.draft();
        keep(&scratch);
        let before = scratch.read("pgflow.lock");
        scratch.write("src/lib.rs", "");
        scratch.migrations().drop_flow("mail").expect("dropped");
        assert_eq!(names(&scratch), ["0001_create_mail.sql", "0002_drop_mail.sql"], "{name}");
        scratch.write("src/lib.rs", &flow("mail", &["send"]));
        scratch.migrations().undo().expect("undone");
        scratch.draft();
        assert_eq!((names(&scratch).len(), scratch.read("pgflow.lock")), (1, before), "{name}");
    }
}
