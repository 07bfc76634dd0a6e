//! Each command and its options: what it prints, what it writes and how it ends.

mod support;

use std::process::Command;

use pgflow_build_tests::Scratch;
use support::{cargo_pgflow, cargo_pgflow_with};

const FLOW: &str = r"use pgflow::prelude::*;

#[flow(input = u32)]
pub mod billing {
    use super::*;

    #[step]
    pub async fn fetch(run: u32) -> Result<Vec<u32>> { Ok(vec![run]) }

    #[step(depends_on = [fetch], timeout = 30)]
    pub async fn sum(fetch: Vec<u32>) -> Result<u32> { Ok(1) }
}
";

const MAPPED: (&str, &str) =
    ("(depends_on = [fetch], timeout", "(map, depends_on = [fetch], timeout");

/// A crate whose flow has a migration.
fn migrated() -> Scratch {
    let scratch = Scratch::new(&[("src/lib.rs", FLOW)]);
    scratch.migrate();
    scratch
}

/// One whose flow has changed since.
fn drifted() -> Scratch {
    let scratch = migrated();
    let changed = FLOW.replace(MAPPED.0, MAPPED.1).replace("fetch: Vec<u32>", "item: u32");
    scratch.write("src/lib.rs", &changed);
    scratch
}

/// One whose flow is gone.
fn emptied() -> Scratch {
    let scratch = migrated();
    scratch.write("src/lib.rs", "");
    scratch
}

/// One whose flow is called otherwise now.
fn renamed() -> Scratch {
    let scratch = migrated();
    scratch.write("src/lib.rs", &FLOW.replace("mod billing", "mod invoicing"));
    scratch
}

/// One whose flow is gone on purpose.
fn retired() -> Scratch {
    let scratch = emptied();
    assert_eq!(cargo_pgflow(&scratch.dir, &["migrate", "--retire", "billing"]).code(), Some(0));
    scratch
}

/// One whose migration was given another number.
fn renumbered() -> Scratch {
    let scratch = migrated();
    let path = |name: &str| scratch.dir.join("migrations").join(name);
    std::fs::rename(path("0001_create_billing.sql"), path("0007_create_billing.sql"))
        .expect("a file");
    scratch
}

/// One that was never migrated.
fn new() -> Scratch {
    Scratch::new(&[("src/lib.rs", FLOW)])
}

/// One with a flow that is wrong.
fn broken() -> Scratch {
    Scratch::new(&[("src/lib.rs", &FLOW.replace("[fetch]", "[fetched]"))])
}

/// Two in a workspace, one of which has no flows.
fn workspace() -> Scratch {
    let manifest = |name: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n")
    };
    let scratch = Scratch::new(&[
        ("a/Cargo.toml", &manifest("a")),
        ("a/src/lib.rs", FLOW),
        ("a/pgflow.lock", ""),
        ("b/Cargo.toml", &manifest("b")),
        ("b/src/lib.rs", ""),
    ]);
    scratch.write("Cargo.toml", "[workspace]\nmembers = [\"a\", \"b\"]\nresolver = \"3\"\n");
    scratch
}

/// One whose flow is in a file with a bracket too few.
fn unclosed() -> Scratch {
    let scratch = migrated();
    scratch.write("src/lib.rs", &FLOW.replace("{ Ok(1) }", "{ Ok(1)"));
    scratch
}

/// One whose flow is in a module that has no file.
fn moved() -> Scratch {
    let scratch = migrated();
    scratch.write("src/lib.rs", "mod billing;\n");
    scratch
}

/// One whose flow is behind something that no item starts with.
fn half_typed() -> Scratch {
    let scratch = migrated();
    scratch.write(
        "src/lib.rs",
        &FLOW.replace("#[flow(input = u32)]\npub mod", "#[flow(input = u32)]\npb mod"),
    );
    scratch
}

/// Two in a workspace that have a flow of the same name.
fn twins() -> Scratch {
    let scratch = workspace();
    scratch.write("b/src/lib.rs", &FLOW.replace("fn sum", "fn total"));
    scratch.write("b/pgflow.lock", "");
    scratch
}

/// What it is run on and with, how it ends, and parts of what it prints.
type Case = (fn() -> Scratch, &'static [&'static str], i32, &'static [&'static str]);

const CASES: &[Case] = &[
    (new, &["migrate"], 0, &["wrote migrations/0001_create_billing.sql\nwrote pgflow.lock\n"]),
    (
        new,
        &["migrate", "--style", "refinery", "--migrations", "db"],
        0,
        &["wrote db/V1__create_billing.sql"],
    ),
    (new, &["migrate", "--style", "flyway"], 2, &["there is no style `flyway`"]),
    (
        new,
        &["migrate", "--json"],
        0,
        &[r#""written":["migrations/0001_create_billing.sql","pgflow.lock"]"#, r#""crate":".""#],
    ),
    (migrated, &["migrate", "--json"], 0, &[r#""written":[]"#]),
    (
        emptied,
        &["migrate"],
        0,
        &[
            "`billing` is no longer in the source",
            "help: if it was renamed, give it `slug = \"billing\"`; otherwise `cargo pgflow migrate --retire billing`",
        ],
    ),
    (emptied, &["migrate", "--drop", "billing"], 0, &["wrote migrations/0002_drop_billing.sql"]),
    (
        migrated,
        &["migrate", "--drop", "billing"],
        1,
        &["flow `billing` is still in the source\nhelp: remove its module first"],
    ),
    (migrated, &["migrate", "--drop", "bill"], 1, &["there is no flow `bill`"]),
    (migrated, &["migrate", "--drop", "billing", "--core"], 2, &["cannot be used with"]),
    (broken, &["migrate"], 1, &["error: src/lib.rs:10:26: there is no step `fetched`"]),
    (migrated, &["check"], 0, &["1 flow, up to date"]),
    (migrated, &["check", "--json"], 0, &[r#""upToDate":true"#]),
    (new, &["check"], 1, &["error: src/lib.rs:4:9: flow `billing` has no migration"]),
    (
        drifted,
        &["check"],
        1,
        &[
            "error: src/lib.rs:4:9: flow `billing` has changed since version 1\n  step `sum`: kind was single, now map",
            "note: incompatible: a new version",
            "help: run `cargo pgflow migrate`, and commit what it writes",
        ],
    ),
    (
        drifted,
        &["check", "--json"],
        1,
        &[
            r#""impact":"incompatible""#,
            r#""missing":["0002_create_billing_v2.sql"]"#,
            r#""upToDate":false"#,
        ],
    ),
    (emptied, &["check"], 1, &["error: flow `billing` is no longer in the source"]),
    (
        renamed,
        &["check"],
        1,
        &[
            "help: flow `invoicing` at src/lib.rs:4:9 has the same steps: if it was renamed, give it `slug = \"billing\"`",
        ],
    ),
    (emptied, &["migrate", "--retire", "billing"], 0, &["wrote pgflow.lock"]),
    (migrated, &["migrate", "--retire", "billing"], 1, &["flow `billing` is still in the source"]),
    (migrated, &["migrate", "--retire", "bill"], 1, &["there is no flow `bill`"]),
    (retired, &["check"], 0, &["0 flows, up to date"]),
    (retired, &["migrate", "--drop", "billing"], 0, &["wrote migrations/0002_drop_billing.sql"]),
    (
        renumbered,
        &["check"],
        1,
        &[
            "pgflow.lock is behind: migration `0001_create_billing.sql` is called `0007_create_billing.sql` now",
        ],
    ),
    (
        migrated,
        &["check", "--migrations", "db"],
        1,
        &[
            "migration `0001_create_billing.sql` of flow `billing` is missing in `db`",
            "was written for sqlx files in `migrations`",
        ],
    ),
    (unclosed, &["check"], 1, &["error: src/lib.rs:4:17: a bracket or a quote is left open here"]),
    (
        unclosed,
        &["migrate"],
        1,
        &["error: src/lib.rs:4:17: a bracket or a quote is left open here"],
    ),
    (
        moved,
        &["check"],
        1,
        &["error: src/lib.rs:1:5: there is no file src/billing.rs for this module"],
    ),
    (
        moved,
        &["migrate"],
        1,
        &["error: src/lib.rs:1:5: there is no file src/billing.rs for this module"],
    ),
    (half_typed, &["check"], 1, &["error: src/lib.rs:4:4: this is not Rust: expected"]),
    (
        half_typed,
        &["migrate", "--drop", "billing"],
        1,
        &["error: src/lib.rs:4:4: this is not Rust"],
    ),
    (broken, &["check"], 1, &["error: src/lib.rs:10:26: there is no step `fetched`"]),
    (
        migrated,
        &["show"],
        0,
        &[
            "billing (version 1), src/lib.rs:4:9\n  fetch : Vec<u32>\n  sum <- fetch timeout=30 : u32\n",
        ],
    ),
    (new, &["show"], 0, &["billing (no migration yet)"]),
    (drifted, &["show", "billing"], 0, &["changed since version 1", "sum map <- fetch"]),
    (migrated, &["show", "bill"], 1, &["there is no flow `bill` in the source"]),
    (migrated, &["show", "--format", "mermaid"], 0, &["%% billing\nflowchart TD", "fetch --> sum"]),
    (migrated, &["show", "--format", "dot"], 0, &["digraph", "\"fetch\" -> \"sum\""]),
    (migrated, &["show", "--format", "json"], 0, &["\"billing\": {", "\"stepType\": \"single\""]),
    (migrated, &["show", "--json"], 0, &["\"billing\": {"]),
    (migrated, &["show", "--format", "png"], 2, &["[possible values: text, mermaid, dot, json]"]),
    (migrated, &["diff", "nothing"], 1, &["`nothing` is neither a file nor a git revision"]),
    (workspace, &["check"], 1, &["error: a/src/lib.rs:4:9: flow `billing` has no migration"]),
    (
        workspace,
        &["migrate"],
        0,
        &["wrote a/migrations/0001_create_billing.sql\nwrote a/pgflow.lock\n"],
    ),
    (workspace, &["show", "--dir", "a/src"], 0, &["billing (no migration yet), ../src/lib.rs:4:9"]),
    (
        twins,
        &["check"],
        1,
        &["error: b/src/lib.rs:4:9: flow `billing` is also in another crate, at a/src/lib.rs:4:9"],
    ),
    (workspace, &["check", "--package", "b"], 0, &["0 flows, up to date"]),
    (workspace, &["check", "--package", "c"], 1, &["there is no crate `c` in this workspace"]),
    (workspace, &["check", "--workspace", "--json"], 1, &[r#""crate":"a""#]),
    (new, &["check", "--dir", "nowhere"], 1, &["there is no Cargo.toml in nowhere or above"]),
    (
        new,
        &["--help"],
        0,
        &[
            "cargo pgflow [OPTIONS] <COMMAND>",
            "migrate",
            "check",
            "show",
            "diff",
            "schema",
            "Exit codes",
        ],
    ),
    (new, &["migrate", "--help"], 0, &["--drop", "--core", "--json", "--style", "--migrations"]),
    (new, &["--version"], 0, &["pgflow 0."]),
    (new, &[], 2, &["Usage: cargo pgflow"]),
    (new, &["migrat"], 2, &["unrecognized subcommand 'migrat'"]),
];

#[test]
fn each_command_does_and_says_what_it_should() {
    for (scratch, args, code, words) in CASES {
        let scratch = scratch();
        let ran = cargo_pgflow(&scratch.dir, args);
        assert_eq!(ran.code(), Some(*code), "{args:?}: {}", ran.text());
        for words in *words {
            assert!(ran.text().contains(words), "{args:?}: `{words}` is not in: {}", ran.text());
        }
    }
}

/// A crate, the help that `check` prints for it, what somebody does who follows it, and the command that is named, if any.
type Help = (fn() -> Scratch, &'static str, fn(&Scratch), &'static [&'static str]);

const HELPS: &[Help] = &[
    (
        renamed,
        "if it was renamed, give it `slug = \"billing\"`",
        |scratch| {
            let source = scratch.read("src/lib.rs");
            let slug = source.replace("input = u32", "input = u32, slug = \"billing\"");
            scratch.write("src/lib.rs", &slug);
        },
        &[],
    ),
    (
        emptied,
        "`cargo pgflow migrate --retire billing` notes that it is gone",
        |_| {},
        &["migrate", "--retire", "billing"],
    ),
    (
        emptied,
        "`--drop billing` writes a migration that deletes it",
        |_| {},
        &["migrate", "--drop", "billing"],
    ),
    (
        twins,
        "help: give one of them another `slug = \"…\"`",
        |scratch| {
            let source = scratch.read("b/src/lib.rs");
            scratch.write(
                "b/src/lib.rs",
                &source.replace("input = u32", "input = u32, slug = \"returns\""),
            );
        },
        &["migrate"],
    ),
    (new, "help: run `cargo pgflow migrate`", |_| {}, &["migrate"]),
];

#[test]
fn whoever_follows_a_help_is_up_to_date() {
    for (scratch, help, follow, command) in HELPS {
        let scratch = scratch();
        let told = cargo_pgflow(&scratch.dir, &["check"]);
        assert_eq!(told.code(), Some(1), "{}", told.text());
        assert!(told.text().contains(help), "`{help}` is not in: {}", told.text());
        follow(&scratch);
        if !command.is_empty() {
            let ran = cargo_pgflow(&scratch.dir, command);
            assert_eq!(ran.code(), Some(0), "{help}: {}", ran.text());
        }
        let after = cargo_pgflow(&scratch.dir, &["check"]);
        assert_eq!(after.code(), Some(0), "{help}: {}", after.text());
    }
}

#[test]
fn a_source_that_cannot_be_read_loses_no_flow() {
    for scratch in [unclosed(), moved(), half_typed()] {
        let before = (scratch.files(), scratch.read("pgflow.lock"));
        for args in [&["check"][..], &["migrate"], &["migrate", "--drop", "billing"]] {
            let ran = cargo_pgflow(&scratch.dir, args);
            assert_eq!(ran.code(), Some(1), "{}", ran.text());
            let text = ran.text().replace("migrate --drop", "");
            assert!(!text.contains("no longer in the source"), "{text}");
            assert_eq!((scratch.files(), scratch.read("pgflow.lock")), before);
        }
    }
}

/// What helps on one database is nothing on another.
#[test]
fn what_helps_depends_on_the_database_of_the_project() {
    for (url, is_sql) in
        [("postgres://h/x", true), ("sqlite:app.db", false), ("mysql://h/x", false)]
    {
        let scratch = drifted();
        cargo_pgflow(&scratch.dir, &["migrate"]);
        let ran = cargo_pgflow_with(&[("PGFLOW_DATABASE_URL", url)], &scratch.dir, &["undo"]);
        let text = ran.text();
        assert!(ran.code() == Some(0) && text.contains("keeps flow `billing__v2`"), "{text}");
        assert_eq!(text.contains("delete_flow_and_data"), is_sql, "{url}: {text}");
    }
}

#[test]
fn the_newest_migration_can_be_taken_back_until_it_is_kept() {
    let scratch = drifted();
    cargo_pgflow(&scratch.dir, &["migrate"]);
    let ran = cargo_pgflow(&scratch.dir, &["undo"]);
    assert_eq!(ran.code(), Some(0), "{}", ran.text());
    assert!(ran.text().contains("removed migrations/0002_create_billing_v2.sql"), "{}", ran.text());
    assert!(ran.text().contains("delete_flow_and_data('billing__v2')"), "{}", ran.text());
    assert!(ran.text().contains("the next build writes it again"), "{}", ran.text());
    cargo_pgflow(&scratch.dir, &["migrate"]);
    let ran = cargo_pgflow(&scratch.dir, &["undo", "--json"]);
    let undone: serde_json::Value =
        serde_json::from_str(&ran.stdout()).expect("JSON, and nothing else");
    let file = "migrations/0002_create_billing_v2.sql";
    assert_eq!(undone, serde_json::json!({ "removed": file, "created": ["billing__v2"] }));
    cargo_pgflow(&scratch.dir, &["migrate"]);
    assert_eq!(cargo_pgflow(&scratch.dir, &["keep"]).code(), Some(0));
    let ran = cargo_pgflow(&scratch.dir, &["undo"]);
    assert_eq!(ran.code(), Some(1), "{}", ran.text());
    assert!(ran.text().contains("`0002_create_billing_v2.sql` is permanent"), "{}", ran.text());
}

#[test]
fn only_migrate_writes() {
    for args in [&["check"][..], &["show"], &["diff", "pgflow.lock"]] {
        let scratch = drifted();
        let before = (scratch.files(), scratch.read("pgflow.lock"));
        cargo_pgflow(&scratch.dir, args);
        assert_eq!((scratch.files(), scratch.read("pgflow.lock")), before, "{args:?}");
    }
}

#[test]
fn it_can_be_called_without_cargo() {
    let scratch = migrated();
    let mut program = Command::new(env!("CARGO_BIN_EXE_cargo-pgflow"));
    let output = program.arg("check").current_dir(&scratch.dir).output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
}
