//! What comes of a value, and of a failure.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::job::{HandOver, JobRetry, JobRow, JobVerdict, LONGEST, Moment};
use pgflow_machine::permit::{Message, MessageEnd};
use pgflow_model::with_causes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::batch::KeyOf;
use super::items::Outcome;
use super::{OnFailure, Queue};
use crate::check::Emits;
use crate::data_error::{What, write};
use crate::worker::tidy;
use crate::{DataError, Error, Result, Retry};

/// What messages of a value follow.
pub(super) type Emit<U> = Arc<dyn Fn(&U) -> Result<Vec<Message>, DataError> + Send + Sync>;

/// What a function says that follows, as messages of a queue.
pub(super) fn emit<U, V, I>(
    queue: &Queue<V>,
    values: impl Fn(&U) -> I + Send + Sync + 'static,
) -> Emit<U>
where
    V: Serialize + DeserializeOwned + 'static,
    I: Emits<V>,
{
    let queue = queue.clone();
    Arc::new(move |value| values(value).values().map(|value| queue.message(&value)).collect())
}

/// What comes of a value.
pub(super) struct Onward<U> {
    /// Messages that it emits.
    pub(super) emits: Vec<Emit<U>>,
    /// Where it is batched, if it is.
    pub(super) batch: Option<ToBatch<U>>,
    pub(super) on_failure: OnFailure,
}

/// The way of a value to the stage that batches it.
pub(super) struct ToBatch<U> {
    pub(super) need: &'static str,
    pub(super) attempts: u32,
    pub(super) key: Option<KeyOf<U>>,
}

impl<U: Serialize> Onward<U> {
    /// The end of an attempt at a message.
    pub(super) fn end(&self, outcome: Result<Outcome<U>>, row: &JobRow) -> MessageEnd {
        match outcome {
            Ok(Outcome::Done(value)) => {
                self.done(&value).unwrap_or_else(|error| self.failed(&Error::fatal(error), row))
            }
            Ok(Outcome::Released) => JobVerdict::Released.into(),
            Ok(Outcome::Failed(error)) | Err(error) => self.failed(&error, row),
        }
    }

    fn done(&self, value: &U) -> Result<MessageEnd, DataError> {
        let mut emits = Vec::new();
        for emit in &self.emits {
            emits.extend(emit(value)?);
        }
        let Some(to) = &self.batch else {
            // What is emitted is kept there.
            let is_kept = self.emits.is_empty();
            let output = if is_kept { write(What::JobOutput, value)? } else { Value::Null };
            return Ok(MessageEnd { emits, ..JobVerdict::Finished(output).into() });
        };
        let hand_over = HandOver {
            payload: Some(write(What::Payload(to.need), value)?),
            // Its batch waits from now on.
            wake: Some(Moment::In(Duration::ZERO)),
            max_attempts: Some(to.attempts),
            frees_key: true,
            ..HandOver::to(to.need)
        };
        let batch_key = to.key.as_ref().map(|key| key(value));
        Ok(MessageEnd { emits, batch_key, ..JobVerdict::HandedOver(hand_over).into() })
    }

    pub(super) fn failed(&self, error: &Error, row: &JobRow) -> MessageEnd {
        let retry = match error.retry() {
            Retry::Skip => return JobVerdict::Finished(Value::Null).into(),
            Retry::Never => JobRetry::Never,
            Retry::After(delay) => JobRetry::After(delay.min(LONGEST)),
            Retry::Later => JobRetry::later(1, row.failures),
        };
        self.on_failure.end(&with_causes(error.as_source()), retry, row)
    }
}

impl OnFailure {
    /// The end of an attempt that failed, wherever that was.
    pub(super) fn end(self, error: &str, retry: JobRetry, row: &JobRow) -> MessageEnd {
        let counted = row.attempts.saturating_sub(row.forgiven);
        let blocks = match self {
            Self::Continue => false,
            Self::Block => true,
            Self::BlockUntil(attempts) => counted < attempts,
        };
        MessageEnd { blocks, ..JobVerdict::Failed { error: tidy(error), retry }.into() }
    }
}

/// A message that nobody can read is dead at once; what it is about is kept.
pub(super) fn undecodable(error: &DataError) -> MessageEnd {
    let error = tidy(&format!("decode: {}", with_causes(error)));
    JobVerdict::Failed { error, retry: JobRetry::Never }.into()
}
