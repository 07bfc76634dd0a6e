//! Messages whose last attempt has failed.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::job::{JobId, JobRetry, JobRow, JobVerdict};
use pgflow_machine::permit::MessageEnd;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::InTx;
use crate::backend::ClaimedJob;
use crate::data_error::{What, read};
use crate::tx::Tx;
use crate::{Error, Result};

/// When messages of a queue are dead, and how long they are kept then.
///
/// ```
/// use std::time::Duration;
/// use pgflow::pipeline::{Dead, Queue};
///
/// let month = Duration::from_hours(30 * 24);
/// let docs = Queue::<String>::named("docs").dead_letter(Dead::after(5).keep(month));
/// # let _ = docs;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "it is given to a queue"]
pub struct Dead {
    pub(super) attempts: u32,
    pub(super) keep: Option<Duration>,
}

impl Dead {
    /// After so many attempts, at least one. Those that were lost with their process count.
    pub const fn after(attempts: u32) -> Self {
        Self { attempts, keep: None }
    }

    /// Workers of its pipelines delete messages that have been dead for so long. Without this they are kept until they are
    /// dropped or pruned.
    pub const fn keep(self, keep: Duration) -> Self {
        Self { keep: Some(keep), ..self }
    }
}

/// A message that is about to be dead.
#[derive(Clone, Debug)]
pub struct DeadMessage {
    id: JobId,
    need: String,
    payload: Value,
    attempts: u32,
}

impl DeadMessage {
    pub(super) fn of(message: &ClaimedJob) -> Self {
        let (id, row) = (message.taken.hold.job.clone(), &message.taken.row);
        let (need, payload) = (row.need.clone(), message.payload.clone());
        Self { id, need, payload, attempts: row.attempts }
    }

    /// Its name, which it can be redriven with.
    pub fn id(&self) -> &JobId {
        &self.id
    }

    /// What it was claimed from: the queue, or `queue>batch` if it was processed before.
    pub fn need(&self) -> &str {
        &self.need
    }

    /// What it is about, as it is stored: nobody may be able to read it.
    pub fn payload(&self) -> &Value {
        &self.payload
    }

    /// What it is about.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T> {
        read(What::Payload("dead message"), &self.payload).map_err(Error::fatal)
    }

    /// How often it was claimed.
    pub fn attempts(&self) -> u32 {
        self.attempts
    }
}

/// What is done in the transaction in which a message becomes dead.
pub(crate) type OnDead =
    Arc<dyn for<'t> Fn(DeadMessage, String, &'t mut Tx) -> InTx<'t, ()> + Send + Sync>;

/// Why the message is dead with this end, if it is.
pub(crate) fn why_dead<'e>(end: &'e MessageEnd, row: &JobRow) -> Option<&'e str> {
    match &end.verdict {
        JobVerdict::Failed { error, retry } => {
            (*retry == JobRetry::Never || row.is_out_of_attempts()).then_some(error)
        }
        _ => None,
    }
}
