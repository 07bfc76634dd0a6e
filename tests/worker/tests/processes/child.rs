//! A worker in a process of its own.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use pgflow::{Db, Flow, Worker};
use pgflow_worker_tests::Outcome;
use serde_json::Value;

/// Where a child finds its database; nobody else has it.
const URL: &str = "PGFLOW_TEST_CHILD_URL";

/// The database, if this process is a child.
pub(crate) async fn database() -> Outcome<Option<Db>> {
    match std::env::var(URL) {
        Ok(url) => Ok(Some(Db::connect(&url).await?)),
        Err(_) => Ok(None),
    }
}

/// Works as a program would, until it is told to stop; then the process ends.
pub(crate) async fn work<F: Flow>(db: &Db, flow: F, concurrency: Option<usize>) -> Outcome {
    tracing_subscriber::fmt().json().with_writer(std::io::stderr).init();
    let mut worker = Worker::new(db).flow(flow);
    if let Some(concurrency) = concurrency {
        worker = worker.concurrency(concurrency);
    }
    let report = worker.grace(Duration::from_mins(10)).run_until_signal().await?;
    std::process::exit(i32::from(!report.is_clean()));
}

/// Works as a program that waits for nothing, and does something `afterwards`, until it is told to stop.
pub(crate) async fn work_first<F: Flow>(
    db: &Db,
    flow: F,
    afterwards: impl Future<Output = ()>,
) -> Outcome {
    tracing_subscriber::fmt().json().with_writer(std::io::stderr).init();
    Worker::new(db).flow(flow).grace(Duration::ZERO).run_until_signal().await?;
    tracing::info!("the worker has ended");
    afterwards.await;
    Ok(())
}

/// A child that works.
pub(crate) struct Working {
    process: Child,
    stderr: BufReader<ChildStderr>,
    log: Vec<Value>,
}

impl Working {
    /// Starts this binary again, for the test of this name.
    pub(crate) fn start(test: &str, url: &str) -> Outcome<Self> {
        Self::start_with(test, url, &[])
    }

    /// With more variables.
    pub(crate) fn start_with(test: &str, url: &str, env: &[(&str, &str)]) -> Outcome<Self> {
        let mut process = Command::new(std::env::current_exe()?)
            .args(["--exact", "--nocapture", test])
            .env(URL, url)
            .envs(env.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let stderr = process.stderr.take().ok_or("no output")?;
        Ok(Self { process, stderr: BufReader::new(stderr), log: Vec::new() })
    }

    /// Reads its log until something was said so often.
    pub(crate) fn wait_for(&mut self, message: &str, times: usize) -> Outcome {
        let mut seen = self.log.iter().filter(|line| says(line, message)).count();
        while seen < times {
            let line = self.read()?.ok_or_else(|| format!("it ended before `{message}`"))?;
            seen += usize::from(says(&line, message));
        }
        Ok(())
    }

    fn read(&mut self) -> Outcome<Option<Value>> {
        let mut line = String::new();
        if self.stderr.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = serde_json::from_str(&line).unwrap_or_else(|_| Value::from(line));
        self.log.push(line.clone());
        Ok(Some(line))
    }

    /// Sends it SIGTERM.
    pub(crate) fn terminate(&self) -> Outcome {
        let kill = ["-c", "kill -TERM \"$0\"", &self.process.id().to_string()];
        let status = Command::new("sh").args(kill).status()?;
        if status.success() { Ok(()) } else { Err("cannot send a signal".into()) }
    }

    /// Waits for its end; how it ended, how long that took, and all that it logged.
    pub(crate) fn end(mut self) -> Outcome<(ExitStatus, Duration, Vec<Value>)> {
        let since = Instant::now();
        while self.read()?.is_some() {}
        let status = self.process.wait()?;
        Ok((status, since.elapsed(), std::mem::take(&mut self.log)))
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

/// Whether a line of a log says this.
pub(crate) fn says(line: &Value, message: &str) -> bool {
    line["fields"]["message"].as_str().is_some_and(|text| text.contains(message))
}

/// What the worker reports at its end.
pub(crate) fn report(log: &[Value]) -> Option<&str> {
    let line = log.iter().find(|line| says(line, "worker stopped"))?;
    line["fields"]["report"].as_str()
}
