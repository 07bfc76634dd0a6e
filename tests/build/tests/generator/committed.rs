//! What happens to the committed files: somebody edits, loses, renames or merges them.

use pgflow_build::Style;
use pgflow_build_tests::Scratch;

const FIRST: &str = "migrations/0001_create_mail.sql";

/// A flow whose steps are these lines.
fn flow(name: &str, args: &str, steps: &str) -> String {
    format!("#[pgflow::flow{args}]\npub mod {name} {{\n{steps}}}\n")
}

fn step(name: &str) -> String {
    format!("    #[step] pub async fn {name}() -> Result<u8> {{ Ok(1) }}\n")
}

/// A flow that was created, and then tuned.
fn tuned() -> Scratch {
    let scratch = Scratch::new(&[("src/lib.rs", &flow("mail", "", &step("send")))]);
    scratch.migrate();
    scratch.write("src/lib.rs", &flow("mail", "(timeout = 9)", &step("send")));
    assert_eq!(scratch.migrate(), ["0002_tune_mail.sql", "pgflow.lock"]);
    scratch
}

/// What goes under all that is said of a file or a lock that somebody changed.
const RESTORE_BOTH: &str = "\nhelp: restore both from version control";
const RESTORE_FILE: &str =
    "\nhelp: restore it from version control, and put your own statements into a file of your own";
const RESTORE_ALL: &str = "\nhelp: restore the migrations from version control; of two branches that changed one flow, only one can keep its migration";

fn refused_with(scratch: &Scratch, words: &str, help: &str) {
    refused(scratch, words);
    let why = scratch.migrations().migrate().expect_err(words).to_string();
    assert!(why.contains(help), "`{help}` is not in: {why}");
}

fn refused(scratch: &Scratch, words: &str) {
    let before = (scratch.files(), scratch.read("pgflow.lock"));
    let why = scratch.migrations().migrate().expect_err(words).to_string();
    assert!(why.contains(words), "`{words}` is not in: {why}");
    assert_eq!((scratch.files(), scratch.read("pgflow.lock")), before, "nothing is written");
}

#[test]
fn an_earlier_file_that_was_edited_or_lost_is_noticed() {
    let of_version = "version 1 of flow `mail` do not make what `pgflow.lock` says";
    for (from, to, words, help) in [
        ("'send'", "'sent'", of_version, RESTORE_BOTH),
        (
            "SELECT pgflow.create",
            "UPDATE x; SELECT pgflow.create",
            "was changed by hand",
            RESTORE_FILE,
        ),
        ("create_flow('mail')", "create_flow('male')", "was changed by hand", RESTORE_FILE),
    ] {
        let scratch = tuned();
        let text = scratch.read(FIRST);
        assert!(text.contains(from), "{text}");
        scratch.write(FIRST, &text.replace(from, to));
        refused_with(&scratch, words, help);
    }
    let scratch = tuned();
    scratch.remove(FIRST);
    let words = "`0002_tune_mail.sql` changes `mail`, which no migration before it creates";
    refused_with(&scratch, words, RESTORE_ALL);
}

#[test]
fn a_lock_that_was_edited_is_noticed() {
    let scratch = tuned();
    let lock = scratch.read("pgflow.lock");
    scratch.write("pgflow.lock", &lock.replace("step send", "step sent"));
    refused(&scratch, "step `sent` is new, step `send` is gone");
    scratch.write("pgflow.lock", &lock.replace("sqlx", "flyway"));
    let why = scratch.migrations().with_settings_of_lock().expect_err("a style").to_string();
    assert!(why.starts_with("pgflow.lock: there is no style `flyway`"), "{why}");
}

#[test]
fn a_lock_that_cannot_be_read_says_what_to_do() {
    for (line, words) in [
        ("<<<<<<< HEAD", "pgflow.lock:4: there is a merge conflict here\nhelp: keep the blocks"),
        ("  lease 5", "pgflow.lock:4: cannot read `lease 5`\nhelp: restore the file"),
    ] {
        let scratch = tuned();
        let lock = scratch.read("pgflow.lock");
        scratch.write("pgflow.lock", &lock.replace("flow mail", &format!("{line}\nflow mail")));
        refused(&scratch, words);
    }
}

#[test]
fn a_file_that_the_lock_has_forgotten_is_not_written_twice() {
    let scratch = tuned();
    let lock = scratch.read("pgflow.lock");
    scratch.write("src/lib.rs", &flow("mail", "(timeout = 9)", &step("post")));
    assert_eq!(scratch.migrate(), ["0003_create_mail_v2.sql", "pgflow.lock"]);
    // Killed before the lock was written: the next build takes the file over.
    let newer = scratch.read("pgflow.lock");
    scratch.write("pgflow.lock", &lock);
    assert_eq!(scratch.migrate(), ["pgflow.lock"]);
    assert_eq!(scratch.read("pgflow.lock"), newer);
    // A file from another branch is not what would be written now.
    scratch.write("pgflow.lock", &lock);
    let words = "migration `0003_create_mail_v2.sql` is about flow `mail`, but `pgflow.lock` does not know it";
    let help = "\nhelp: restore `pgflow.lock` from version control, or delete the file if no database has it";
    for source in [
        flow("mail", "(timeout = 9)", &step("wire")),
        flow("mail", "(timeout = 8)", &step("send")),
        flow("mail", "(timeout = 9)", &step("send")),
    ] {
        scratch.write("src/lib.rs", &source);
        refused_with(&scratch, words, help);
    }
}

#[test]
fn two_files_of_one_number_are_noticed_and_one_can_be_renamed() {
    let scratch = tuned();
    scratch.write("migrations/0002_users.sql", "create table users ();\n");
    let words = "`0002_tune_mail.sql` and `0002_users.sql` have the same number";
    let help = "\nhelp: give the one that no database has yet the next number: `pgflow.lock` follows when you build";
    refused_with(&scratch, words, help);
    scratch.write("migrations/0003_tune_mail.sql", &scratch.read("migrations/0002_tune_mail.sql"));
    scratch.remove("migrations/0002_tune_mail.sql");
    assert_eq!(scratch.migrate(), ["pgflow.lock"]);
    assert!(scratch.read("pgflow.lock").contains("migration 0003_tune_mail.sql"));
    assert!(scratch.migrate().is_empty());
}

#[test]
fn other_files_of_one_number_are_none_of_our_business() {
    let scratch = tuned();
    for name in ["0007_users.up.sql", "0007_users.down.sql", "readme.sql"] {
        scratch.write(&format!("migrations/{name}"), "");
    }
    std::fs::write(scratch.dir.join("migrations/0008_data.sql"), b"\xff\xfe\0").expect("a file");
    scratch.write("src/lib.rs", &flow("mail", "(timeout = 7)", &step("send")));
    assert_eq!(scratch.migrate(), ["0009_tune_mail.sql", "pgflow.lock"]);
}

#[test]
fn files_of_another_style_or_place_are_not_lost_silently() {
    let scratch = tuned();
    for moved in [
        scratch.migrations().style(Style::Refinery),
        scratch.migrations().in_directory("db/migrations"),
    ] {
        let why = moved.migrate().expect_err("moved").to_string();
        assert!(why.contains("`0002_tune_mail.sql` of flow `mail` is missing in `"), "{why}");
        let help =
            "\nhelp: restore it from version control: a changed flow gets a migration of its own";
        assert!(why.contains(help), "{why}");
        assert!(why.contains("`pgflow.lock` was written for sqlx files in `migrations`"), "{why}");
    }
}

#[test]
fn a_directory_is_not_shared_by_two_crates() {
    let other = tuned();
    let scratch = Scratch::new(&[("src/lib.rs", &flow("post", "", &step("send")))]);
    for (name, text) in other.files() {
        scratch.write(&format!("migrations/{name}"), &text);
    }
    let words = "migration `0001_create_mail.sql` is about flow `mail`, which neither the source nor `pgflow.lock` knows";
    let why = scratch.migrations().migrate().expect_err(words).to_string();
    assert!(why.contains(words), "{why}");
    let help = "\nhelp: if it is another crate's, give each crate a directory of its own; otherwise restore `pgflow.lock`, or delete the file";
    assert!(why.contains(help), "{why}");
    assert_eq!(scratch.files(), other.files(), "nothing is written");
    // What this one wrote is taken back without what the other one did.
    other.files().keys().for_each(|name| scratch.remove(&format!("migrations/{name}")));
    scratch.draft();
    for (name, text) in other.files() {
        scratch.write(&format!("migrations/{}", name.replace("000", "100")), &text);
    }
    assert_eq!(scratch.migrations().undo().expect("undone").created, ["post"]);
    assert_eq!(scratch.files().len(), other.files().len());
    assert!(!scratch.read("pgflow.lock").contains("mail"), "{}", scratch.read("pgflow.lock"));
}

#[test]
fn a_flow_is_not_dropped_while_anything_is_wrong() {
    let scratch = tuned();
    scratch.write("src/lib.rs", "");
    scratch.remove(FIRST);
    let why = scratch.migrations().drop_flow("mail").expect_err("a problem").to_string();
    assert!(why.contains("no migration before it creates"), "{why}");
}

#[test]
fn a_root_that_is_not_there_is_an_error() {
    let why = tuned().migrations().root("src/flow.rs").plan().expect_err("no file").to_string();
    assert_eq!(why, "cannot read src/flow.rs");
}
