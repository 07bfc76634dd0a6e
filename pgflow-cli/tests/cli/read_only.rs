//! Databases that can be read and not written: everything is shown, and what cannot be done is said.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use pgflow::Db;
use pgflow::backend::{WaitQuery, WaitingFor};
use pgflow::pipeline::Rate;
use pgflow_machine::job::{JobClaim, JobRetry, JobSettle};
use pgflow_test_support::{MariaDb, MariaDbDatabase, MariaDbOptions, TestDb};
use pgflow_worker_tests::{Fresh, Outcome, Working};
use serde_json::Value;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use crate::jobs;
use crate::place::{Scratch, change, ended, program, sums};
use crate::serving::{Running, ask};
use crate::top::Terminal;
use crate::trouble::{COMMANDS, assert_says};
use crate::waits::approval;

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

/// As on a medium that takes no writes: nobody has the file open, and nothing can be put beside it.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_nobody_has_open_is_shown() -> Outcome {
    let scratch = Scratch::new("sealed")?;
    let (url, file) = (scratch.sqlite("app.db"), scratch.path().join("app.db"));
    let db = Db::connect(&url).await?;
    let kept = kept(&db, &url).await?;
    db.close().await?;
    for name in ["app.db-wal", "app.db-shm"] {
        assert!(!scratch.path().join(name).exists(), "{name}");
    }
    let allow = |path: &Path, is_allowed: bool| {
        let mut rights = std::fs::metadata(path)?.permissions();
        rights.set_readonly(!is_allowed);
        std::fs::set_permissions(path, rights)
    };
    allow(&file, false)?;
    allow(scratch.path(), false)?;
    let program = unprivileged(&file.display().to_string(), &url)?;
    let (looks, refused) = cases(&kept);
    let refused = refused.into_iter().map(|args| (args, 3, "read-only"));
    let mut all = Vec::new();
    for (args, code, sentence) in looks.into_iter().chain(refused) {
        all.push((ended(program(&args)).await, code, sentence, format!("{args:?}")));
    }
    allow(scratch.path(), true)?;
    for (ran, code, sentence, what) in all {
        assert_says(&ran, code, sentence, &what);
    }
    Ok(())
}

/// What is in a database that can only be read.
struct Kept {
    run: String,
    failed: String,
    token: String,
}

async fn kept(db: &Db, url: &str) -> Outcome<Kept> {
    db.migrate().await?;
    db.register(sums::Flow).await?;
    db.register(approval::Flow).await?;
    let worker = Working::start(pgflow::Worker::new(db).flow(sums::Flow).flow(approval::Flow));
    let failed = db.start(sums::Flow, &vec![13]).await?;
    failed.wait().await?;
    db.start(approval::Flow, 7).await?;
    let token = loop {
        let waits = db.waits(&WaitQuery::default()).await?;
        match waits.first().map(|wait| wait.on.clone()) {
            Some(WaitingFor::Hook { token: Some(token) }) => break token.as_str().to_owned(),
            _ => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    };
    worker.stop().await?;
    db.submit_raw("n", Value::Null).id("live-1").await?;
    db.submit_raw("n", Value::Null).id("concern-1").await?;
    let elsewhere = "update pgflow_jobs set state = 'concern', attempts = 9, lapses = 9, streak = 9 where id = 'concern-1'";
    let postgres = "update pgflow.jobs set state = 'concern', attempts = 9, lapses = 9, streak = 9 where id = 'concern-1'";
    change(url, elsewhere, postgres).await?;
    db.submit_raw("d", Value::Null).id("dead-1").await?;
    let claim = JobClaim {
        worker: "worker".to_owned(),
        needs: vec!["d".to_owned()],
        lease: Duration::from_mins(1),
        max: 1,
    };
    let claimed = db.backend().jobs()?.claim_jobs(&claim).await?;
    let hold = claimed.jobs.first().ok_or("a job")?.taken.hold.clone();
    let settle = JobSettle::new(hold, jobs::failed(JobRetry::Never));
    db.backend().jobs()?.settle_jobs(&[settle], "worker").await?;
    db.queue("paused").pause().await?;
    db.rate("api").set(Rate::per_hour(1)).await?;
    for name in ["nightly", "resting"] {
        db.schedule(name).flow(sums::Flow, &vec![1]).cron("0 3 * * *").await?;
    }
    db.schedule("resting").pause().await?;
    let run = db.start(sums::Flow, &vec![1]).await?.id().to_string();
    db.start(sums::Flow, &vec![2]).await?.cancel(None).await?;
    // What is pruned has to be older than a second.
    tokio::time::sleep(Duration::from_millis(1100)).await;
    Ok(Kept { run, failed: failed.id().to_string(), token })
}

/// A command, what it ends with, and what is then to be seen.
type Look<'a> = (Vec<&'a str>, i32, &'a str);

/// What can be looked at, with something that is then to be seen, and what cannot be done.
fn cases(kept: &Kept) -> (Vec<Look<'_>>, Vec<Vec<&str>>) {
    let Kept { run, failed, token } = kept;
    let looks = vec![
        (vec!["ls"], 0, &**run),
        (vec!["ls", "--workers", "--all"], 0, "stopped"),
        (vec!["ls", "--queues"], 0, "sums"),
        (vec!["ls", "--flows"], 0, "approval"),
        (vec!["ls", "--jobs"], 0, "live-1"),
        (vec!["ls", "--hooks"], 0, &**token),
        (vec!["ls", "--schedules"], 0, "nightly"),
        (vec!["schedule", "ls"], 0, "resting"),
        (vec!["schedule", "next", "nightly"], 0, "T03:00:00"),
        (vec!["job", "ls"], 0, "live-1"),
        (vec!["job", "show", "live-1"], 0, "no worker serves"),
        (vec!["dead", "ls"], 0, "dead-1"),
        (vec!["queue", "depth", "n"], 0, "in flight"),
        (vec!["queue", "rate"], 0, "api"),
        (vec!["show", run], 0, "first"),
        (vec!["show", "live-1"], 0, "READY"),
        (vec!["why", run], 1, "no worker serves"),
        (vec!["why", "live-1"], 1, "no worker serves"),
        (vec!["graph", "sums"], 0, "double"),
        (vec!["tail", run, "--limit", "1"], 0, "run:started"),
        (vec!["cancel", run, "--dry-run"], 0, "would cancel"),
        (vec!["retry", failed, "--dry-run"], 0, "would retry"),
        (vec!["job", "cancel", "live-1", "--dry-run"], 0, "would cancel"),
        (vec!["dead", "drop", "dead-1", "--dry-run"], 0, "would drop"),
        (vec!["prune", "--older-than", "1s", "--dry-run"], 0, "would be deleted"),
        (vec!["doctor"], 1, "read-only"),
        (vec!["install"], 0, "up to date"),
    ];
    let refused = vec![
        vec!["cancel", run],
        vec!["retry", failed],
        vec!["start", "sums", "[1]"],
        vec!["prune", "--older-than", "1s"],
        vec!["signal", token, "7"],
        vec!["schedule", "add", "hourly", "sums", "0 * * * *", "[1]"],
        vec!["schedule", "fire", "nightly"],
        vec!["schedule", "pause", "nightly"],
        vec!["schedule", "resume", "resting"],
        vec!["schedule", "rm", "nightly"],
        vec!["job", "submit", "n"],
        vec!["job", "cancel", "live-1"],
        vec!["job", "clear", "concern-1"],
        vec!["job", "redrive", "dead-1"],
        vec!["dead", "redrive", "dead-1"],
        vec!["dead", "drop", "dead-1"],
        vec!["queue", "pause", "n"],
        vec!["queue", "resume", "paused"],
        vec!["queue", "rate", "api", "5/s"],
    ];
    (looks, refused)
}

/// Whatever is tried on a database that is down is tried on one that is read-only.
#[test]
fn no_command_is_left_out() {
    let kept = Kept { run: String::new(), failed: String::new(), token: String::new() };
    let (looks, refused) = cases(&kept);
    let tried: Vec<_> = looks.into_iter().map(|look| look.0).chain(refused).collect();
    for command in COMMANDS {
        // These go on; `watched` and `looked_at` try them.
        let goes_on = ["top", "serve"].contains(&command[0]);
        let has_leaves = pgflow_cli::command()
            .find_subcommand(command[0])
            .is_some_and(clap::Command::has_subcommands);
        let words = if has_leaves || command[0] == "ls" { command.len().min(2) } else { 1 };
        let is_tried = tried.iter().any(|it| it.starts_with(&command[..words]));
        assert!(is_tried != goes_on, "{command:?}");
    }
}

async fn looks_only(url: &str, server: &MariaDb) -> Outcome {
    let db = Db::connect(url).await?;
    let kept = kept(&db, url).await?;
    let (program, why) = read_only(url, server).await?;
    let (looks, refused) = cases(&kept);
    let refused = refused.into_iter().map(|args| (args, 3, why));
    let start = |(args, code, sentence): Look<'_>| {
        let what = format!("{args:?} on {url}");
        (code, sentence.to_owned(), what, tokio::spawn(ended(program(&args))))
    };
    let all: Vec<_> = looks.into_iter().chain(refused).map(start).collect();
    looked_at(&program, &kept.run)?;
    watched(&program, url, &kept.run, why).await;
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
        for path in [
            "/",
            "/runs",
            &format!("/runs/{run}"),
            "/jobs",
            "/queues",
            "/dead",
            "/schedules",
            "/workers",
            "/metrics",
            "/readyz",
        ] {
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

/// Where everybody may start it; one for all tests.
fn copied_program() -> Outcome<std::path::PathBuf> {
    static COPY: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _alone = COPY.lock();
    let copy = std::env::temp_dir().join(format!("pgflow-cli-program-{}", std::process::id()));
    if !copy.exists() {
        std::fs::hard_link(env!("CARGO_BIN_EXE_pgflow"), &copy)
            .or_else(|_| std::fs::copy(env!("CARGO_BIN_EXE_pgflow"), &copy).map(drop))?;
    }
    Ok(copy)
}
