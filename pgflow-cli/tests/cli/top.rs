//! `pgflow top`, in a real terminal.

use std::process::{Command, Output};
use std::time::{Duration, Instant};

use pgflow::job::JobOutcome;
use pgflow::{Db, RunStatus};
use pgflow_machine::FlowVersion;
use pgflow_machine::job::{JobRetry, JobVerdict};
use pgflow_model::{FlowShape, StepShape};
use pgflow_test_support::{Server, ServerOptions, TestDb};
use pgflow_worker_tests::{Fresh, Outcome};
use serde_json::Value;
use sqlx::{Connection as _, PgConnection};

use crate::jobs::{each_with_jobs, failed, settle, take};
use crate::place::{Scratch, each, sums};

/// A terminal of tmux, which is closed in the end.
pub(crate) struct Terminal(String);

impl Terminal {
    /// With `pgflow top` in a shell, so that what is left of the terminal can be seen.
    fn open(name: &str, url: &str) -> Self {
        let program = format!("{} top --database '{url}'", env!("CARGO_BIN_EXE_pgflow"));
        Self::run(name, &program)
    }

    /// With a program that goes on.
    pub(crate) fn run(name: &str, program: &str) -> Self {
        let terminal = Self(format!("pgflow-top-{}-{name}", std::process::id()));
        let command = format!("{program}; echo ended with $?; exec sh");
        let opened =
            terminal.tmux(&["new-session", "-d", "-x", "160", "-y", "40", "sh", "-c", &command]);
        assert!(opened.status.success(), "tmux: {}", String::from_utf8_lossy(&opened.stderr));
        terminal
    }

    fn tmux(&self, arguments: &[&str]) -> Output {
        let mut tmux = Command::new("tmux");
        tmux.args(["-L", &self.0, "-f", "/dev/null"]).args(arguments);
        tmux.output().expect("this test needs tmux: `cargo xtask provision` installs it")
    }

    fn screen(&self) -> String {
        String::from_utf8_lossy(&self.tmux(&["capture-pane", "-p"]).stdout).into_owned()
    }

    /// The screen with what its colours are written as.
    pub(crate) fn coloured(&self) -> String {
        String::from_utf8_lossy(&self.tmux(&["capture-pane", "-p", "-e"]).stdout).into_owned()
    }

    pub(crate) fn press(&self, key: &str) {
        self.tmux(&["send-keys", key]);
    }

    /// The screen, once it has all of these texts on it.
    pub(crate) async fn shows(&self, texts: &[&str]) -> String {
        let end = Instant::now() + Duration::from_mins(1);
        loop {
            let screen = self.screen();
            if texts.iter().all(|text| screen.contains(text)) {
                return screen;
            }
            assert!(Instant::now() < end, "no {texts:?} in:\n{screen}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

impl Terminal {
    /// Waits until this is no longer to be seen.
    async fn gone(&self, text: &str) {
        let end = Instant::now() + Duration::from_mins(1);
        while self.screen().contains(text) {
            assert!(Instant::now() < end, "{text} is still in:\n{}", self.screen());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_are_watched_opened_cancelled_and_retried() -> Outcome {
    for place in each().await? {
        let worker = place.work(sums::Flow).await?;
        let failed = place.db.start(sums::Flow, &vec![13]).await?;
        failed.wait().await?;
        worker.stop().await?;
        let run = place.db.start(sums::Flow, &vec![1]).await?;
        let terminal = Terminal::open(kind(&place.url), &place.url);
        terminal
            .shows(&["queues", "runs", "workers", &run.id().to_string(), "started", "failed"])
            .await;
        terminal.press("Enter");
        terminal.shows(&["double  created", "no worker serves `sums`"]).await;
        terminal.press("c");
        terminal.shows(&["cancel ", "? y/n"]).await;
        terminal.press("n");
        terminal.shows(&["q quit"]).await;
        assert_eq!(run.status().await?, RunStatus::Started, "no is no");
        terminal.press("c");
        terminal.shows(&["? y/n"]).await;
        terminal.press("y");
        terminal.shows(&["cancelled"]).await;
        assert_eq!(run.wait().await?, RunStatus::Cancelled);
        terminal.press("Escape");
        terminal.shows(&["queues"]).await;
        terminal.press("Down");
        terminal.press("r");
        terminal.shows(&["retry ", &failed.id().to_string(), "? y/n"]).await;
        terminal.press("y");
        terminal.shows(&["goes on"]).await;
        assert_eq!(failed.status().await?, RunStatus::Started);
        let late = place.db.start(sums::Flow, &vec![2]).await?;
        terminal.shows(&[&late.id().to_string()]).await;
        terminal.press("q");
        let left = terminal.shows(&["ended with 0"]).await;
        assert!(!left.contains("queues"), "the terminal is as it was:\n{left}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_are_watched_opened_cancelled_and_redriven() -> Outcome {
    for place in each_with_jobs().await? {
        let scan = place.db.submit_raw("page.scan", Value::Null).id("page-7").await?;
        place.db.submit_raw("page.scan", Value::Null).id("page-8").await?;
        let terminal = Terminal::open(&format!("jobs-{}", kind(&place.url)), &place.url);
        terminal.shows(&["jobs", "page-7", "page-8", "page.scan", "READY"]).await;
        terminal.press("Tab");
        terminal.press("Down");
        terminal.press("Enter");
        terminal.shows(&["0 attempts, 0 failed, 0 lost", "no worker serves `page.scan`"]).await;
        terminal.press("c");
        terminal.shows(&["cancel page-7? y/n"]).await;
        terminal.press("y");
        terminal.shows(&["page-7 cancelled"]).await;
        assert_eq!(scan.wait().await?, JobOutcome::Cancelled);
        terminal.press("Escape");
        let hold = take(&place, "worker", "page.scan").await?;
        settle(&place, hold, failed(JobRetry::Never)).await?;
        terminal.shows(&["page-8", "failed", "no answer"]).await;
        terminal.press("r");
        terminal.shows(&["retry page-8? y/n"]).await;
        terminal.press("y");
        terminal.shows(&["page-8 goes on"]).await;
        terminal.press("q");
        terminal.shows(&["ended with 0"]).await;
    }
    Ok(())
}

/// A run of more steps than fit the screen.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_a_tree_that_scrolls() -> Outcome {
    let steps = (0..60).map(|n| {
        let step = StepShape::new(format!("step_{n}"));
        if n == 0 { step } else { step.after(format!("step_{}", (n - 1) / 2)) }
    });
    let shape = FlowShape { steps: steps.collect(), ..FlowShape::new("deep") };
    let slug = || "deep".to_owned();
    let version = FlowVersion { flow: slug(), version: 1, slug: slug(), shape };
    for place in each().await? {
        place.db.backend().ensure_flow(&version).await?;
        place.db.start_by_name("deep", Value::from(1), None).await?;
        let terminal = Terminal::open(&format!("tree-{}", kind(&place.url)), &place.url);
        terminal.shows(&["deep", "started"]).await;
        terminal.press("Enter");
        let top = terminal
            .shows(&["  ○ step_1  created", "    ○ step_3  created", "no worker serves `deep`"])
            .await;
        assert!(!top.contains("step_42"), "{top}");
        terminal.press("End");
        let end = terminal.shows(&["            ○ step_42  created"]).await;
        assert!(!end.contains("step_1  "), "{end}");
        terminal.press("Home");
        terminal.shows(&["▶ step_0  started"]).await;
        terminal.press("Escape");
        terminal.shows(&["queues", "workers"]).await;
        terminal.press("q");
        terminal.shows(&["ended with 0"]).await;
    }
    Ok(())
}

/// A line that is too long takes many rows.
#[tokio::test(flavor = "multi_thread")]
async fn a_long_text_scrolls_to_its_end() -> Outcome {
    let place = Fresh::sqlite().await?;
    place.db.submit_raw("page.scan", Value::Null).id("page-7").await?;
    let error = "no room ".repeat(1_500) + "§";
    let hold = take(&place, "worker", "page.scan").await?;
    settle(&place, hold, JobVerdict::Failed { error, retry: JobRetry::Never }).await?;
    let terminal = Terminal::open("long", &place.url);
    terminal.shows(&["page-7"]).await;
    terminal.press("Tab");
    terminal.press("Enter");
    let top = terminal.shows(&["1 attempts, 1 failed, 0 lost"]).await;
    assert!(!top.contains('§'), "{top}");
    terminal.press("End");
    terminal.shows(&["§"]).await;
    terminal.press("q");
    terminal.shows(&["ended with 0"]).await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_read_while_a_database_hangs() -> Outcome {
    let place = Fresh::postgres().await?;
    place.db.register(sums::Flow).await?;
    place.db.start(sums::Flow, &vec![1]).await?;
    let terminal = Terminal::open("hangs", &place.url);
    terminal.shows(&["sums", "started", "q quit"]).await;
    let mut connection = PgConnection::connect(&place.url).await?;
    sqlx::raw_sql("begin; lock table pgflow.runs").execute(&mut connection).await?;
    terminal.press("Enter");
    terminal.press("Enter");
    terminal.shows(&["has not answered to the last key yet"]).await;
    terminal.press("q");
    terminal.shows(&["ended with 0"]).await;
    Ok(())
}

/// Whoever ends it gets the terminal back.
#[tokio::test(flavor = "multi_thread")]
async fn the_terminal_is_as_it_was_after_a_signal() -> Outcome {
    let (place, scratch) = (Fresh::sqlite().await?, Scratch::new("top-signal")?);
    for signal in ["TERM", "HUP"] {
        let noted = scratch.path().join(signal);
        let top = format!("{} top --database {}", env!("CARGO_BIN_EXE_pgflow"), place.url);
        let program = format!("sh -c 'echo $$ >{}; exec {top}'", noted.display());
        let terminal = Terminal::run(&format!("signal-{signal}"), &program);
        terminal.shows(&["queues", "q quit"]).await;
        let pid = std::fs::read_to_string(&noted)?;
        Command::new("sh").args(["-c", "kill -s \"$0\" \"$1\"", signal, pid.trim()]).status()?;
        let left = terminal.shows(&["ended with 0"]).await;
        assert!(!left.contains("queues"), "the terminal is as it was:\n{left}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_gone_is_said_until_it_is_back() -> Outcome {
    let mut server = Server::start(ServerOptions::default())?;
    let database = TestDb::new_on(&server).await;
    let db = Db::connect(&database.url()).await?;
    db.migrate().await?;
    db.register(sums::Flow).await?;
    db.start(sums::Flow, &vec![1]).await?;
    let terminal = Terminal::open("gone", &database.url());
    terminal.shows(&["sums", "started", "q quit"]).await;
    server.kill9();
    terminal.shows(&["error: "]).await;
    // Keys are read meanwhile.
    terminal.press("Tab");
    server.restart()?;
    terminal.gone("error: ").await;
    terminal.shows(&["q quit"]).await;
    let late = Db::connect(&database.url()).await?.start(sums::Flow, &vec![2]).await?;
    terminal.shows(&[&late.id().to_string()]).await;
    terminal.press("q");
    terminal.shows(&["ended with 0"]).await;
    Ok(())
}

/// Which database a URL is of.
fn kind(url: &str) -> &str {
    url.split(':').next().unwrap_or_default()
}
