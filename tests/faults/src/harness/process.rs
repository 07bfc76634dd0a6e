//! Processes that experiments start.

use std::fmt::Display;
use std::fs::OpenOptions;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::process::{Child, Command};

use super::{Outcome, signal};

/// What a worker says at its end.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct WorkerEnd {
    /// Results that were recorded.
    pub settled: u64,
    /// Results that nobody needed.
    pub superseded: u64,
    /// Tasks that were given back.
    pub released: u64,
    /// Neither.
    pub lost: u64,
}

/// A process that is about to start.
pub struct Spawn {
    command: Command,
}

impl Spawn {
    pub(super) fn new(program: &Path, dir: &Path, mode: &str, url: &str) -> Self {
        let mut command = Command::new(program);
        command.arg(mode).args(["--database", url, "--dir"]).arg(dir);
        command.stdout(Stdio::piped()).stderr(errors(dir)).kill_on_drop(true);
        // Ends when the experiment does, even if that is killed.
        command.stdin(Stdio::piped());
        Self { command }
    }

    /// With an option.
    #[must_use]
    pub fn arg(mut self, name: &str, value: impl Display) -> Self {
        self.command.arg(name).arg(value.to_string());
        self
    }

    /// With an option that has no value.
    #[must_use]
    pub fn flag(mut self, name: &str) -> Self {
        self.command.arg(name);
        self
    }

    /// With a variable in its environment.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl Display) -> Self {
        self.command.env(name, value.to_string());
        self
    }

    /// Starts it.
    pub fn start(mut self) -> Outcome<Process> {
        let child = self.command.spawn()?;
        let pid = child.id().ok_or("it ended at once")?;
        Ok(Process { child, pid })
    }
}

/// What processes of an experiment complain about.
fn errors(dir: &Path) -> Stdio {
    let file = OpenOptions::new().create(true).append(true).open(dir.join("stderr"));
    file.map_or_else(|_| Stdio::null(), Stdio::from)
}

/// A process. It is killed when this is dropped.
#[derive(Debug)]
pub struct Process {
    child: Child,
    /// Its number.
    pub pid: u32,
}

impl Process {
    /// Ends it at once: it cannot even say goodbye.
    pub async fn kill9(&mut self) -> Outcome {
        Ok(self.child.kill().await?)
    }

    /// Sends a signal.
    pub async fn signal(&self, name: &str) -> Outcome {
        signal(name, self.pid).await
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Outcome<Option<ExitStatus>> {
        Ok(self.child.try_wait()?)
    }

    /// Waits for its end; what it printed.
    pub async fn end(mut self) -> Outcome<(ExitStatus, String)> {
        // Not closed meanwhile: a process whose standard input ends takes the experiment for dead.
        let _open = self.child.stdin.take();
        // Below what an experiment may take, so that it says which process it was.
        let end = tokio::time::timeout(Duration::from_secs(280), self.child.wait_with_output());
        let output = end.await.map_err(|_| format!("process {} does not end", self.pid))??;
        Ok((output.status, String::from_utf8(output.stdout)?))
    }

    /// Waits for the end of a worker.
    pub async fn worker_end(self) -> Outcome<(ExitStatus, WorkerEnd)> {
        let (status, printed) = self.end().await?;
        let end = serde_json::from_str(&printed);
        Ok((status, end.map_err(|_| format!("a worker ended with {status}: {printed:?}"))?))
    }

    /// Asks a worker to stop, and waits until it has.
    pub async fn stop(self) -> Outcome<WorkerEnd> {
        self.signal("TERM").await?;
        Ok(self.worker_end().await?.1)
    }
}
