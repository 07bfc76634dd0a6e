//! What the client was told, in a file of its own.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::harness::Outcome;

/// What the database said it has.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Acknowledged {
    /// A run.
    Start { run: String },
    /// The result of a task: `run/step`.
    Settle { task: String, output: i64 },
}

/// A log that is on disk when a line was added.
#[derive(Clone, Debug)]
pub(super) struct Log {
    path: PathBuf,
    file: Arc<Mutex<File>>,
}

impl Log {
    pub(super) fn new(path: PathBuf) -> Outcome<Self> {
        let file = OpenOptions::new().create(true).append(true).open(&path)?;
        Ok(Self { path, file: Arc::new(Mutex::new(file)) })
    }

    pub(super) fn add(&self, entries: &[Acknowledged]) -> Outcome {
        let mut lines = String::new();
        for entry in entries {
            lines.push_str(&serde_json::to_string(entry)?);
            lines.push('\n');
        }
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(lines.as_bytes())?;
        Ok(file.sync_data()?)
    }

    /// All of it: what is acknowledged while this is read is for the next time.
    pub(super) fn read(&self) -> Outcome<Vec<Acknowledged>> {
        let text = {
            let _whole_lines = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            std::fs::read_to_string(&self.path)?
        };
        text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
    }
}
