//! Databases that can be read and not written: everything is shown, and what cannot be done is said.

use std::process::Command;

use pgflow::Db;
use pgflow_test_support::{MariaDb, MariaDbDatabase, MariaDbOptions, TestDb};
use pgflow_worker_tests::{Fresh, Outcome, Working};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use crate::place::{ended, program, sums};
use crate::serving::{Running, ask};
use crate::top::Terminal;
use crate::trouble::assert_says;

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
        all.push(start((&["dead", "ls"], 0, "need")));
        all.push(start((&["queue", "depth", "n"], 0, "in flight")));
        all.push(start((&["queue", "pause", "n"], 3, why)));
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

/// Where everybody may start it.
fn copied_program() -> Outcome<std::path::PathBuf> {
    let copy = std::env::temp_dir().join(format!("pgflow-cli-program-{}", std::process::id()));
    std::fs::hard_link(env!("CARGO_BIN_EXE_pgflow"), &copy)
        .or_else(|_| std::fs::copy(env!("CARGO_BIN_EXE_pgflow"), &copy).map(drop))?;
    Ok(copy)
}
