//! Databases that cannot be used: a clear sentence and the right exit code, of every command on every database.

use std::io::Write as _;
use std::net::TcpListener;
use std::process::Command;

use pgflow::Db;
use pgflow_test_support::{MariaDb, MariaDbDatabase, MariaDbOptions, TestDb};
use pgflow_worker_tests::{Fresh, Outcome, Working};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use crate::place::{Ran, Scratch, change, each, ended, pgflow, program, sums};
use crate::serving::{Running, ask};
use crate::top::Terminal;

/// Every command that needs a database with our schema, with arguments that are fine.
const COMMANDS: &[&[&str]] = &[
    &["ls"],
    &["ls", "--workers"],
    &["ls", "--queues"],
    &["ls", "--flows"],
    &["ls", "--jobs"],
    &["job", "ls"],
    &["job", "show", "a"],
    &["job", "submit", "n"],
    &["job", "cancel", "a"],
    &["job", "clear", "a"],
    &["job", "redrive", "--all"],
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
fn assert_says(ran: &Ran, code: i32, sentence: &str, what: &str) {
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
    let asked: Vec<_> = COMMANDS.iter().chain(MAKERS).chain([&DOCTOR]).map(|it| it[0]).collect();
    for command in pgflow_cli::command().get_subcommands() {
        let name = command.get_name();
        assert!(asked.contains(&name) != others.contains(&name), "{name}");
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

/// Postgres with read-only transactions, MariaDB with `read_only`, a file that belongs to somebody else. All at once: commands
/// are patient with a server that may take writes again soon.
#[tokio::test(flavor = "multi_thread")]
async fn databases_that_are_read_only() -> Outcome {
    let (sqlite, database) = (Fresh::sqlite().await?, TestDb::new().await);
    // Of its own: others would be refused too.
    let server = MariaDb::start(&MariaDbOptions::default())?;
    let (postgres, mysql) = (database.url(), MariaDbDatabase::new_on(&server).url());
    tokio::try_join!(
        looks_only(&sqlite.url, &server),
        looks_only(&postgres, &server),
        looks_only(&mysql, &server),
    )?;
    Ok(())
}

async fn looks_only(url: &str, server: &MariaDb) -> Outcome {
    let db = Db::connect(url).await?;
    db.migrate().await?;
    db.register(sums::Flow).await?;
    let worker = Working::start(pgflow::Worker::new(&db).flow(sums::Flow));
    let failed = db.start(sums::Flow, &vec![13]).await?;
    failed.wait().await?;
    worker.stop().await?;
    let failed = failed.id().to_string();
    let run = db.start(sums::Flow, &vec![1]).await?.id().to_string();
    let done = db.start(sums::Flow, &vec![2]).await?;
    done.cancel(None).await?;
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    let (program, why) = read_only(url, server).await?;
    let cases = [
        (&["ls"][..], 0, &*run),
        (&["ls", "--workers"], 0, "host"),
        (&["ls", "--queues"], 0, "sums"),
        (&["show", &run], 0, "first"),
        (&["why", &run], 1, "no worker serves"),
        (&["graph", "sums"], 0, "double"),
        (&["tail", &run, "--limit", "1"], 0, "run:started"),
        (&["cancel", &run, "--dry-run"], 0, "would cancel"),
        (&["doctor"], 1, "read-only"),
        (&["cancel", &run], 3, why),
        (&["retry", &failed, "--dry-run"], 0, "would retry"),
        (&["retry", &failed], 3, why),
        (&["start", "sums", "[1]"], 3, why),
        (&["prune", "--older-than", "1s"], 3, why),
        (&["install"], 0, "up to date"),
    ];
    let start = |case: (&[&str], i32, &str)| {
        let what = format!("{:?} on {url}", case.0);
        (case.1, case.2.to_owned(), what, tokio::spawn(ended(program(case.0))))
    };
    let mut all: Vec<_> = cases.into_iter().map(start).collect();
    if db.has_jobs() {
        all.push(start((&["job", "ls"], 0, "need")));
        all.push(start((&["job", "submit", "n"], 3, why)));
    }
    looked_at(&program, &run)?;
    watched(&program, url, &run, why).await;
    for (code, sentence, what, ran) in all {
        assert_says(&ran.await?, code, &sentence, &what);
    }
    Ok(())
}

/// Dashboards show what is there.
fn looked_at(program: &Start, run: &str) -> Outcome {
    for command in ["serve", "dev"] {
        let running = Running::of(program(&[command, "--listen", "127.0.0.1:0", "--json"]))?;
        let address = running.address()?;
        for path in
            ["/", "/runs", &format!("/runs/{run}"), "/jobs", "/workers", "/metrics", "/readyz"]
        {
            let (status, text) = ask(&address, &format!("GET {path}"))?;
            assert_eq!(status, 200, "{command} {path}: {text}");
        }
        assert_eq!(running.end("TERM")?, 0, "{command}");
    }
    Ok(())
}

/// So does `top`, and it says what cannot be done.
async fn watched(program: &Start, url: &str, run: &str, why: &str) {
    let name = format!("read-only-{}", url.split(':').next().unwrap_or_default());
    let terminal = Terminal::run(&name, &in_shell(&program(&["top"])));
    terminal.shows(&[run, "failed"]).await;
    // The newest was cancelled; the next one goes on.
    terminal.press("Down");
    terminal.press("c");
    terminal.shows(&[&format!("cancel {run}? y/n")]).await;
    terminal.press("y");
    terminal.shows(&[why]).await;
    terminal.press("q");
    terminal.shows(&["ended with 0"]).await;
}

/// A command as a shell reads it.
fn in_shell(command: &Command) -> String {
    let quoted = |text: &std::ffi::OsStr| format!("'{}'", text.to_string_lossy());
    let set = |(name, value): (&std::ffi::OsStr, Option<&std::ffi::OsStr>)| match value {
        Some(value) => format!("{}={}", name.to_string_lossy(), quoted(value)),
        None => format!("-u {}", name.to_string_lossy()),
    };
    let mut settings: Vec<_> = command.get_envs().map(set).collect();
    // What is taken away comes before what is set.
    settings.sort_unstable();
    let words = std::iter::once(command.get_program()).chain(command.get_args()).map(quoted);
    format!("env {} {}", settings.join(" "), words.collect::<Vec<_>>().join(" "))
}

type Start = Box<dyn Fn(&[&str]) -> Command + Send>;

/// Makes it read-only for a program that is started like this, and what that then says.
async fn read_only(url: &str, server: &MariaDb) -> Outcome<(Start, &'static str)> {
    let url = url.to_owned();
    if let Some(file) = url.strip_prefix("sqlite:") {
        for suffix in ["", "-wal", "-shm"] {
            let mut rights = std::fs::metadata(format!("{file}{suffix}"))?.permissions();
            rights.set_readonly(true);
            std::fs::set_permissions(format!("{file}{suffix}"), rights)?;
        }
        return Ok((unprivileged(file, &url)?, "read-only"));
    }
    if url.starts_with("mysql:") {
        let name = url.rsplit('/').next().unwrap_or_default();
        server.sql(&format!(
            "create user clerk@'127.0.0.1'; grant all on {name}.* to clerk@'127.0.0.1'; set global read_only = 1"
        ))?;
        let url = url.replace("root@", "clerk@");
        return Ok((Box::new(move |args| program(&url, args)), "the server is read-only"));
    }
    set_read_only(&url).await?;
    Ok((Box::new(move |args| program(&url, args)), "read-only transaction"))
}

/// The program, as somebody whom rights concern: root may write everything.
fn unprivileged(file: &str, url: &str) -> Outcome<Start> {
    let is_root = std::fs::OpenOptions::new().append(true).open(file).is_ok();
    let (copied, url) = (copied_program()?, url.to_owned());
    Ok(Box::new(move |args| {
        let mut command = if is_root {
            let mut command = Command::new("setpriv");
            command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups", "--"]);
            command.arg(&copied);
            command
        } else {
            Command::new(&copied)
        };
        command.args(args).env("WORKFLOW_DATABASE_URL", &url);
        command.env_remove("DATABASE_URL").env_remove("PGFLOW_DATABASE_URL");
        command
    }))
}

async fn set_read_only(url: &str) -> Outcome {
    let mut connection = PgConnection::connect(url).await?;
    let name: String =
        sqlx::query_scalar("select current_database()::text").fetch_one(&mut connection).await?;
    let set = format!("alter database {name} set default_transaction_read_only = on");
    sqlx::raw_sql(AssertSqlSafe(set)).execute(&mut connection).await?;
    Ok(())
}

/// Where everybody may start it.
fn copied_program() -> Outcome<std::path::PathBuf> {
    let copy = std::env::temp_dir().join(format!("pgflow-cli-program-{}", std::process::id()));
    std::fs::hard_link(env!("CARGO_BIN_EXE_pgflow"), &copy)
        .or_else(|_| std::fs::copy(env!("CARGO_BIN_EXE_pgflow"), &copy).map(drop))?;
    Ok(copy)
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
    for (arguments, sentence) in [
        (&["ls", "--status", "lost"][..], "a run is one of"),
        (&["ls", "--since", "soon"], "a duration is"),
        (&["ls", "--after", "x"], "not what a page ended with"),
        (&["prune"], "--older-than"),
        (&["top", "--json"], "for machines"),
        (&["new", "7up"], "begins with a letter"),
        (&["serve", "--listen", "here"], "invalid socket address"),
    ] {
        let ran = pgflow(&place.url, arguments).await;
        assert_eq!(ran.code(), 2, "{arguments:?}: {}", ran.text());
        assert!(ran.stderr().contains(sentence), "{arguments:?}: {}", ran.text());
    }
    let none = pgflow(&place.url, &["why", "0123"]).await;
    assert!(none.code() == 1 && none.stderr().contains("there is no run 0123"), "{}", none.text());
    let none = pgflow(&place.url, &["why", "seven"]).await;
    let said = "there is no job seven, and no run can be called that";
    assert!(none.code() == 1 && none.stderr().contains(said), "{}", none.text());
    Ok(())
}
