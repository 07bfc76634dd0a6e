//! Databases that cannot be used: a clear sentence and the right exit code, of every command on every database.

use std::io::Write as _;
use std::net::TcpListener;

use pgflow_test_support::{MariaDbDatabase, TestDb};
use pgflow_worker_tests::{Fresh, Outcome};

use crate::place::{Ran, Scratch, change, each, ended, pgflow, program};

/// Every command that needs a database with our schema, with arguments that are fine.
pub(crate) const COMMANDS: &[&[&str]] = &[
    &["ls"],
    &["ls", "--workers"],
    &["ls", "--queues"],
    &["ls", "--flows"],
    &["ls", "--jobs"],
    &["ls", "--hooks"],
    &["ls", "--schedules"],
    &["signal", "somebody", "1"],
    &["schedule", "ls"],
    &["schedule", "add", "nightly", "sums", "0 3 * * *"],
    &["schedule", "next", "nightly"],
    &["schedule", "fire", "nightly"],
    &["schedule", "pause", "nightly"],
    &["schedule", "resume", "nightly"],
    &["schedule", "rm", "nightly"],
    &["job", "ls"],
    &["job", "show", "a"],
    &["job", "submit", "n"],
    &["job", "cancel", "a"],
    &["job", "clear", "a"],
    &["job", "redrive", "--all"],
    &["dead", "ls"],
    &["dead", "redrive", "--all"],
    &["dead", "drop", "--all"],
    &["queue", "depth", "n"],
    &["queue", "pause", "n"],
    &["queue", "resume", "n"],
    &["queue", "rate"],
    &["queue", "rate", "api", "5/s"],
    &["show", "0123"],
    &["why", "0123"],
    &["start", "sums", "[1]"],
    &["tail", "0123"],
    &["tail"],
    &["graph", "sums"],
    &["retry", "0123"],
    &["retry", "--flow", "sums", "--dry-run"],
    &["cancel", "0123"],
    &["prune", "--older-than", "1d"],
    &["top"],
    &["serve", "--listen", "127.0.0.1:0"],
];

/// Looks at whatever is there.
const DOCTOR: &[&str] = &["doctor"];
/// Those that make what is missing.
const MAKERS: &[&[&str]] = &[&["install"], &["dev", "--listen", "127.0.0.1:0"]];

/// Says this and ends so.
pub(crate) fn assert_says(ran: &Ran, code: i32, sentence: &str, what: &str) {
    let text = ran.text();
    assert_eq!(ran.code(), code, "{what}: {text}");
    assert!(text.contains(sentence), "{what}: no `{sentence}` in {text}");
    if code == 3 {
        assert!(ran.stderr().starts_with("error: "), "{what}: {text}");
        assert_eq!(ran.stdout(), "", "{what}");
    }
}

/// All of them say this and end with 3. They do so at once: some are patient with a server that may be about to start.
async fn all_say(
    url: &str,
    commands: impl IntoIterator<Item = &'static &'static [&'static str]>,
    sentence: &str,
) {
    let started = commands.into_iter().map(|command| {
        let program = program(url, command);
        (command, tokio::spawn(ended(program)))
    });
    for (command, ran) in started.collect::<Vec<_>>() {
        let ran = ran.await.expect("no panic");
        assert_says(&ran, 3, sentence, &format!("{command:?} on {url}"));
    }
}

#[test]
fn no_command_is_left_out() {
    // About the source, or about nothing.
    let others =
        ["new", "completions", "man", "migrate", "check", "undo", "keep", "diff", "schema"];
    let asked: Vec<_> = COMMANDS.iter().chain(MAKERS).chain([&DOCTOR]).collect();
    for command in pgflow_cli::command().get_subcommands() {
        let name = command.get_name();
        let is_asked = asked.iter().any(|it| it[0] == name);
        assert!(is_asked != others.contains(&name), "{name}");
        for leaf in command.get_subcommands() {
            let leaf = [name, leaf.get_name()];
            assert!(asked.iter().any(|it| it.starts_with(&leaf)), "{leaf:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn databases_that_are_down() {
    for url in ["postgres://127.0.0.1:1/app", "mysql://127.0.0.1:1/app"] {
        let every = COMMANDS.iter().chain(MAKERS).chain([&DOCTOR]);
        all_say(url, every, &format!("cannot connect to {url}: the database cannot be reached"))
            .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_not_there_is_not_made() -> Outcome {
    let scratch = Scratch::new("missing")?;
    all_say(&scratch.sqlite("app.db"), COMMANDS.iter().chain([&DOCTOR]), "there is no file").await;
    let help = "\nhelp: `pgflow install` makes one";
    all_say(&scratch.sqlite("app.db"), COMMANDS.iter().take(1), help).await;
    assert!(!scratch.path().join("app.db").exists());
    let nowhere = scratch.sqlite("no/such/directory/app.db");
    all_say(&nowhere, MAKERS, "cannot use sqlite:").await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn empty_databases() -> Outcome {
    let (postgres, scratch) = (TestDb::empty().await, Scratch::new("empty")?);
    std::fs::write(scratch.path().join("app.db"), "")?;
    let mysql = MariaDbDatabase::new().await;
    for url in [postgres.url(), scratch.sqlite("app.db"), mysql.url()] {
        all_say(&url, COMMANDS, "pgflow's tables are not there\nhelp: run `pgflow install`").await;
        assert_says(&pgflow(&url, DOCTOR).await, 1, "schema-missing", &url);
        for said in ["installed", "up to date"] {
            assert_says(&pgflow(&url, &["install"]).await, 0, said, &url);
        }
        assert_says(&pgflow(&url, &["ls"]).await, 0, "run  flow", "the fix fixes it");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_another_program_is_left_as_it_is() -> Outcome {
    let scratch = Scratch::new("foreign")?;
    let (url, file) = (scratch.sqlite("app.db"), scratch.path().join("app.db"));
    std::fs::write(&file, "")?;
    assert_eq!(pgflow(&url, &["ls"]).await.code(), 3);
    assert_eq!(std::fs::read(&file)?, b"", "an empty file stays empty");
    change(&url, "create table theirs (id integer)", "").await?;
    let before = std::fs::read(&file)?;
    for command in [&["ls"][..], &["doctor"], &["show", "0123"]] {
        pgflow(&url, command).await;
        assert!(std::fs::read(&file)? == before, "{command:?} has changed it");
    }
    assert_says(&pgflow(&url, &["install"]).await, 0, "installed", &url);
    // Bytes 18 and 19 of a file say whether it has a write-ahead log.
    assert_eq!(std::fs::read(&file)?[18..20], [2, 2]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_beside_a_file() -> Outcome {
    let scratch = Scratch::new("beside")?;
    for command in [&["install"][..], &["ls"], &["doctor"], &["start", "sums", "1"]] {
        pgflow(&scratch.sqlite("app.db"), command).await;
        let files = scratch.path().read_dir()?.map(|it| it.map(|it| it.file_name()));
        let files = files.collect::<Result<Vec<_>, _>>()?;
        // Processes take turns at the file by a lock on the second one, which stays.
        let is_ours = |name: &&std::ffi::OsString| *name == "app.db" || *name == "app.db-turn";
        assert_eq!(files.iter().filter(is_ours).count(), files.len(), "{command:?}: {files:?}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn databases_that_are_newer_or_older() -> Outcome {
    for place in each().await? {
        let url = &*place.url;
        let elsewhere = if url.starts_with("mysql:") {
            "insert into pgflow_migrations values ('0999_future', 'x', 1, 1)"
        } else {
            "insert into pgflow_migrations values ('0999_future', 'x', 1)"
        };
        change(
            url,
            elsewhere,
            "insert into pgflow.migrations (name, checksum, library) values ('0999_future', 'x', '0.1.0')",
        )
        .await?;
        all_say(url, COMMANDS, "the schema is newer (0999_future)").await;
        all_say(url, MAKERS, "newer").await;
        assert_says(&pgflow(url, DOCTOR).await, 1, "schema-newer", url);
        change(
            url,
            "delete from pgflow_migrations where name = '0999_future'
                or name = (select n from (select max(name) as n from pgflow_migrations where name < '0999') m)",
            "delete from pgflow.migrations where name = '0999_future' or name ~ '^[0-9]' and name >= '0011'",
        )
        .await?;
        all_say(url, COMMANDS, "the schema is older").await;
        assert_says(&pgflow(url, DOCTOR).await, 1, "schema-behind", url);
    }
    Ok(())
}

/// A file that is none of SQLite's, a directory, and a server of something else.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_database() -> Outcome {
    let scratch = Scratch::new("garbage")?;
    std::fs::write(scratch.path().join("letter.txt"), "Dear Ann, ".repeat(100))?;
    let every = || COMMANDS.iter().chain(MAKERS).chain([&DOCTOR]);
    all_say(&scratch.sqlite("letter.txt"), every(), "the file is not an SQLite database").await;
    assert!(std::fs::read_to_string(scratch.path().join("letter.txt"))?.starts_with("Dear Ann"));
    all_say(&scratch.sqlite(""), every(), "is it a directory").await;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    for scheme in ["postgres", "mysql"] {
        let url = format!("{scheme}://{address}/app");
        all_say(&url, every(), &format!("cannot connect to {url}")).await;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn urls_that_mean_nothing() {
    for (url, code, sentence) in [
        ("", 2, "is empty"),
        ("nonsense", 2, "has no scheme"),
        ("mysq://x", 2, "did you mean `mysql:`?"),
        ("http://x", 2, "there is no database of scheme `http:`"),
        ("sqlite:", 2, "names no file"),
        ("postgres:x", 2, "begins with `postgres://`"),
        ("mysql:x", 2, "begins with `mysql://`"),
        ("postgres://h:99999999/x", 3, "not the URL of a Postgres database"),
        ("mysql://h:99999999/x", 3, "not the URL of a MySQL or MariaDB database"),
        ("mysql://127.0.0.1:1", 3, "it names no database"),
        ("postgres://ann:secret@h:1/x?sslmode=nonsense", 3, "a value that it cannot have"),
    ] {
        for command in [&["ls"][..], DOCTOR, &["install"]] {
            let ran = pgflow("memory:", &[command, &["--database", url]].concat()).await;
            let text = ran.text();
            assert_eq!(ran.code(), code, "{url}: {text}");
            assert!(ran.stderr().contains(sentence), "{url}: {text}");
            assert!(!text.contains("secret"), "{text}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn misuse_is_told_apart() -> Outcome {
    let place = Fresh::sqlite().await?;
    place.db.register(crate::place::sums::Flow).await?;
    for (arguments, sentence) in [
        (&["ls", "--status", "lost"][..], "a run is one of"),
        (&["ls", "--since", "soon"], "a duration is"),
        (&["ls", "--after", "x"], "not what a page ended with"),
        (&["prune"], "--older-than"),
        (&["dead", "ls", "--after", "x"], "not what a page of jobs ended with"),
        (&["dead", "drop"], "which jobs?"),
        (&["queue", "rate", "api", "5/week"], "is not a rate such as"),
        (&["queue", "rate", "api", "5/s", "--burst", "0"], "a burst of at least 1"),
        (&["queue", "rate", "api", "--burst", "2"], "AMOUNT"),
        (&["queue", "pause", ""], "the name of the need is empty"),
        (&["tail", "--limit", "0"], "0 is not in 1.."),
        (&["tail", "nothere"], "is not the id of a run"),
        (&["ls", "--limit", "1001"], "is not in 1..=1000"),
        (&["ls", "--limit", "-1"], "unexpected argument"),
        (&["ls", "--workers", "--after", "x"], "not what a page of workers ended with"),
        (&["prune", "--older-than", "9999999999999999999999d"], "too long"),
        (&["job", "submit", "n", "--priority", "99999999999"], "is not in"),
        (&["job", "show", ""], "cannot be the id of a job"),
        (&["signal", "x", "{"], "not JSON"),
        (&["top", "--json"], "for machines"),
        (&["top"], "draws on a terminal"),
        (&["new", "7up"], "begins with a letter"),
        (&["serve", "--listen", "here"], "an address is such as 127.0.0.1:4680"),
        (&["schedule", "add", "n", "sums", "soon", "[1]"], "five are wanted"),
        (&["schedule", "add", "n", "sums", "0 3 * * *", "[1]", "--timezone", "Mars"], "Mars"),
        (&["schedule", "add", "", "sums", "0 3 * * *", "[1]"], "name"),
        (&["signal", ""], "token"),
        (&["signal", "x", "--resume-id", ""], "id"),
        (&["job", "submit", ""], "need"),
    ] {
        let ran = pgflow(&place.url, arguments).await;
        assert_eq!(ran.code(), 2, "{arguments:?}: {}", ran.text());
        assert!(ran.stderr().contains(sentence), "{arguments:?}: {}", ran.text());
    }
    let none = pgflow(&place.url, &["why", "0123"]).await;
    assert!(none.code() == 1 && none.stderr().contains("there is no run 0123"), "{}", none.text());
    let none = pgflow(&place.url, &["show", "seven", "--dir", "/"]).await;
    let said = "help: `pgflow job show seven` shows a job";
    assert!(none.code() == 1 && none.stderr().contains(said), "{}", none.text());
    for odd in ["☃", "\u{1b}[31m", "' or 1=1 --", "0123-☃"] {
        let none = pgflow(&place.url, &["why", odd]).await;
        assert!(none.code() == 1 && none.stderr().contains("there is no"), "{}", none.text());
        assert!(!none.stderr().contains('\u{1b}'), "shown and not obeyed: {}", none.text());
    }
    let none = pgflow(&place.url, &["why", "seven"]).await;
    let said = "there is no job seven, and no run can be called that";
    assert!(none.code() == 1 && none.stderr().contains(said), "{}", none.text());
    Ok(())
}
