//! What handlers say while they run, in a file that outlives them.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use pgflow::Context;
use pgflow::job::JobContext;
use pgflow::pipeline::MessageContext;
use serde::{Deserialize, Serialize};

use super::{Outcome, until};

/// What a handler does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum What {
    /// It began.
    Entered,
    /// It is about to return.
    Left,
    /// It heard that it should stop.
    Told,
}

/// A line of a journal.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// What the handler did.
    pub what: What,
    /// Its process.
    pub pid: u32,
    /// Its run.
    pub run: String,
    /// Its step.
    pub step: String,
    /// Its index in a map.
    pub index: usize,
    /// Its attempt.
    pub attempt: u32,
    /// When, in milliseconds, by the clock of its process.
    pub at: u64,
}

/// A file that several processes append lines to.
#[derive(Clone, Debug)]
pub struct Journal(PathBuf);

impl Journal {
    /// The journal in this directory.
    pub fn in_dir(dir: &Path) -> Self {
        Self(dir.join("journal"))
    }

    /// Adds a line. The kernel has it when this returns, so that it survives the end of the process.
    pub fn note(&self, what: What, ctx: &Context) -> io::Result<()> {
        self.append(&Entry {
            what,
            pid: std::process::id(),
            run: ctx.run_id().to_owned(),
            step: ctx.step().to_owned(),
            index: ctx.index(),
            attempt: ctx.attempt(),
            at: now(),
        })
    }

    /// The same for an attempt at a job: its id as the run, its need as the step.
    pub fn note_job(&self, what: What, ctx: &JobContext) -> io::Result<()> {
        self.append(&Entry {
            what,
            pid: std::process::id(),
            run: ctx.job_id().to_string(),
            step: ctx.need().to_owned(),
            index: 0,
            attempt: ctx.attempt(),
            at: now(),
        })
    }

    /// The same for an attempt at messages: what it is about as the run, its batch as the step.
    pub fn note_message(&self, what: What, about: u32, ctx: &MessageContext) -> io::Result<()> {
        self.append(&Entry {
            what,
            pid: std::process::id(),
            run: about.to_string(),
            step: ctx.batch_id().to_owned(),
            index: 0,
            attempt: ctx.attempt(),
            at: now(),
        })
    }

    fn append(&self, entry: &Entry) -> io::Result<()> {
        let mut line = serde_json::to_string(entry)?;
        line.push('\n');
        self.open()?.write_all(line.as_bytes())
    }

    fn open(&self) -> io::Result<File> {
        OpenOptions::new().create(true).append(true).open(&self.0)
    }

    /// All lines so far.
    pub fn read(&self) -> Outcome<Vec<Entry>> {
        let text = match std::fs::read_to_string(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            text => text?,
        };
        // The last line may be half written.
        Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
    }

    /// Waits for a line like this.
    pub async fn find(&self, what: &str, is_it: impl Fn(&Entry) -> bool) -> Outcome<Entry> {
        until(what, async || Ok(self.read()?.into_iter().find(&is_it))).await
    }

    /// Waits for the beginning of an attempt.
    pub async fn entered(&self, step: &str, attempt: u32) -> Outcome<Entry> {
        let is_it = |entry: &Entry| {
            entry.what == What::Entered && entry.step == step && entry.attempt == attempt
        };
        self.find(&format!("attempt {attempt} at step `{step}`"), is_it).await
    }

    /// How many attempts began.
    pub fn count(&self, what: What) -> Outcome<usize> {
        Ok(self.read()?.iter().filter(|entry| entry.what == what).count())
    }
}

/// Milliseconds by the clock of this process.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
