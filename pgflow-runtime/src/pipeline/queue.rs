//! Queues: where messages wait.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::job::{JobId, NewJob};
use pgflow_machine::payload_bytes;
use pgflow_machine::permit::{Columns, Message, Units};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Dead, QueueSink};
use crate::check::{Carries, Keeps};
use crate::client::{ClientError, ask_pipelines};
use crate::data_error::{What, read, write};
use crate::{DataError, Db, SubmitIn};

/// Messages that one call pushes.
const AT_ONCE: usize = 500;

/// Bytes of payload that one call pushes, unless it is one message: what a database takes in one statement is limited, and so is
/// what others wait for.
const BYTES_AT_ONCE: usize = 8_000_000;

/// Messages that go in one call, as they are gathered.
#[derive(Debug, Default)]
pub(super) struct Bundle {
    messages: Vec<Message>,
    bytes: usize,
}

impl Bundle {
    pub(super) fn add(&mut self, message: Message) {
        self.bytes = self.bytes.saturating_add(payload_bytes(&message.job.payload));
        self.messages.push(message);
    }

    /// Whether it goes before anything is added.
    pub(super) fn is_full(&self) -> bool {
        self.messages.len() >= AT_ONCE || self.bytes >= BYTES_AT_ONCE
    }

    /// Whether this message is to go with the next one.
    fn has_no_room_for(&self, message: &Message) -> bool {
        let bytes = self.bytes.saturating_add(payload_bytes(&message.job.payload));
        self.is_full() || (!self.messages.is_empty() && bytes > BYTES_AT_ONCE)
    }

    pub(super) fn len(&self) -> usize {
        self.messages.len()
    }

    /// All that is in it; it is empty then.
    pub(super) fn take(&mut self) -> Vec<Message> {
        std::mem::take(self).messages
    }

    /// As many as it takes, in their order.
    fn of(messages: Vec<Message>) -> Vec<Self> {
        let mut all = vec![Self::default()];
        for message in messages {
            if all.last().is_none_or(|bundle| bundle.has_no_room_for(&message)) {
                all.push(Self::default());
            }
            if let Some(bundle) = all.last_mut() {
                bundle.add(message);
            }
        }
        all
    }
}

/// How often a message is tried, unless its queue says otherwise.
const ATTEMPTS: u32 = 5;

type KeyOf<T> = Arc<dyn Fn(&T) -> String + Send + Sync>;
type UnitsOf<T> = Arc<dyn Fn(&T) -> Units + Send + Sync>;

/// What is named twice is held twice, and no units are nothing to hold.
fn sum(named: impl Iterator<Item = (String, u32)>) -> Units {
    let mut sum = Units::new();
    for (slug, units) in named.filter(|(_, units)| *units > 0) {
        let all: &mut u32 = sum.entry(slug).or_default();
        *all = all.saturating_add(units);
    }
    sum
}

/// Whether a message that fails keeps the others of its key waiting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFailure {
    /// The others go on; it is tried again later, after some of them.
    #[default]
    Continue,
    /// The others wait until it is done or dead.
    Block,
    /// The others wait for its first so many attempts, and then go on.
    BlockUntil(u32),
}

/// A durable queue of messages of one type.
///
/// Whatever a claim has to know of a message is known when it is pushed, so keys belong to the queue and not to a pipeline:
/// make the queue in one function, and let producers and pipelines call it.
///
/// ```
/// use pgflow::pipeline::{OnFailure, Queue};
///
/// /// In the order of each tenant, and no tenant starves the others.
/// fn orders() -> Queue<(String, u32)> {
///     Queue::named("orders")
///         .serial_by(|order: &(String, u32)| order.0.clone(), OnFailure::Block)
///         .fair_by(|order| order.0.clone())
/// }
///
/// # fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let db = pgflow::Db::connect("memory:").await?;
/// orders().push(&db, &("acme".to_owned(), 7)).await?;
/// assert_eq!(db.queue("orders").stats().await?.depth, 1);
/// # Ok(()) })
/// # }
/// ```
pub struct Queue<T> {
    pub(super) name: &'static str,
    pub(super) attempts: u32,
    pub(super) keep: Option<Duration>,
    serial: Option<(KeyOf<T>, OnFailure)>,
    fair: Option<KeyOf<T>>,
    batch: Option<KeyOf<T>>,
    resources: Option<UnitsOf<T>>,
}

impl<T> Clone for Queue<T> {
    fn clone(&self) -> Self {
        Self {
            name: self.name,
            attempts: self.attempts,
            keep: self.keep,
            serial: self.serial.clone(),
            fair: self.fair.clone(),
            batch: self.batch.clone(),
            resources: self.resources.clone(),
        }
    }
}

impl<T> fmt::Debug for Queue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Queue").field(&self.name).finish()
    }
}

impl<T> Queue<T> {
    /// The queue of this name, whose messages are tried five times.
    pub const fn named(name: &'static str) -> Self {
        let (attempts, keep) = (ATTEMPTS, None);
        Self { name, attempts, keep, serial: None, fair: None, batch: None, resources: None }
    }

    /// Its name.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// So many attempts at each message, at least one; then it is dead. Attempts that were lost with their process count.
    #[must_use]
    pub fn attempts(self, attempts: u32) -> Self {
        Self { attempts, ..self }
    }

    /// When its messages are dead, and how long they are kept then.
    #[must_use]
    pub fn dead_letter(self, dead: Dead) -> Self {
        Self { attempts: dead.attempts, keep: dead.keep, ..self }
    }

    /// Messages of one key are processed in the order in which they were pushed, one at a time, over all processes. Batches are
    /// formed of what was processed. With the name of its queue, a key may have 123 bytes; a push of a longer one is refused.
    #[must_use]
    pub fn serial_by(
        self,
        key: impl Fn(&T) -> String + Send + Sync + 'static,
        on_failure: OnFailure,
    ) -> Self {
        Self { serial: Some((Arc::new(key), on_failure)), ..self }
    }

    /// A flood of messages of one key does not keep those of other keys waiting.
    #[must_use]
    pub fn fair_by(self, key: impl Fn(&T) -> String + Send + Sync + 'static) -> Self {
        Self { fair: Some(Arc::new(key)), ..self }
    }

    /// Only messages of one key are in a batch: for a pipeline that batches messages as they were pushed.
    #[must_use]
    pub fn batch_by(self, key: impl Fn(&T) -> String + Send + Sync + 'static) -> Self {
        Self { batch: Some(Arc::new(key)), ..self }
    }

    /// What processing a message holds: units of [resources](Db::resource), all of them or none. One whose resource is full is
    /// passed over, and others go on. What is named twice is held twice, and 0 units are none.
    #[must_use]
    pub fn resources<S: Into<String>, I: IntoIterator<Item = (S, u32)>>(
        self,
        units: impl Fn(&T) -> I + Send + Sync + 'static,
    ) -> Self {
        let units = move |message: &T| {
            let named = units(message).into_iter();
            sum(named.map(|(slug, units)| (slug.into(), units)))
        };
        Self { resources: Some(Arc::new(units)), ..self }
    }

    /// Whether messages name resources.
    pub(super) fn names_resources(&self) -> bool {
        self.resources.is_some()
    }

    /// What a failing message does to others of its key.
    pub(super) fn on_failure(&self) -> OnFailure {
        self.serial.as_ref().map_or(OnFailure::Continue, |(_, policy)| *policy)
    }
}

impl<T: Serialize + DeserializeOwned> Queue<T> {
    /// Reads a payload.
    pub(crate) fn read(&self, payload: &serde_json::Value) -> Result<T, DataError> {
        read(What::Payload(self.name), payload)
    }

    /// A message, as it is pushed.
    pub(crate) fn message(&self, value: &T) -> Result<Message, DataError> {
        let payload = write(What::Payload(self.name), value)?;
        let mut job = NewJob::new(JobId::new(), self.name, payload);
        job.max_attempts = Some(self.attempts);
        // A job's key is one over all needs; the length of the name keeps two pairs apart.
        let name = self.name;
        let key = self.serial.as_ref().map(|(key, _)| key(value));
        job.key = key.map(|key| format!("{}:{name}:{key}", name.len()));
        let resources = self.resources.as_ref().map(|units| units(value)).unwrap_or_default();
        let batch_key = self.batch.as_ref().map(|key| key(value));
        let columns = Columns { batch_key, resources };
        Ok(Message { job, fair: self.fair.as_ref().map(|key| key(value)), columns })
    }

    /// Pushes messages, in few calls: up to 500 or 8 MB in each. Those that are refused are an error, after the others were pushed.
    /// An error of the database ends it, and what was pushed until then is there: to know where to go on, push in parts, or through
    /// a [`sink`](Self::sink), which keeps what was not pushed.
    pub async fn push_all<'v>(
        &self,
        db: &Db,
        values: impl IntoIterator<Item = &'v T>,
    ) -> Result<Vec<JobId>, ClientError>
    where
        T: 'v,
    {
        let messages = values.into_iter().map(|value| self.message(value));
        let messages = messages.collect::<Result<Vec<_>, _>>()?;
        let (mut pushed, mut refused) = (Vec::with_capacity(messages.len()), None);
        for mut bundle in Bundle::of(messages) {
            match send(db, bundle.take()).await {
                Ok(ids) => pushed.extend(ids),
                Err(error @ ClientError::Job { .. }) => refused = refused.or(Some(error)),
                Err(error) => return Err(error),
            }
        }
        refused.map_or(Ok(pushed), Err)
    }

    /// Pushes a message as part of the application's transaction: it is there if and only if that commits. Until then, others who
    /// push a message of the same [`fair_by`](Self::fair_by) key or [`serial_by`](Self::serial_by) key wait for it.
    pub async fn push_in(
        &self,
        tx: &mut (impl SubmitIn + Send + ?Sized),
        value: &T,
    ) -> Result<JobId, ClientError> {
        let message = self.message(value)?;
        let job = message.job.id.clone();
        let pushed = tx.push_message(&message, "producer").await?;
        pushed.map_err(|source| ClientError::Job { job: job.clone(), source })?;
        Ok(job)
    }

    /// Where messages are pushed that wait while the queue is too deep.
    pub fn sink(&self, db: &Db) -> QueueSink<T> {
        QueueSink::new(self.clone(), db.clone())
    }
}

impl<T> Queue<T> {
    /// Pushes a message, owned or borrowed.
    #[expect(clippy::needless_pass_by_value, reason = "a message may be owned")]
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn push<V>(&self, db: &Db, value: V) -> Pushing where Self: Keeps<T> + Carries<V, T> {
        let (db, message) = (db.clone(), self.kept(<Self as Carries<V, T>>::carried(&value)));
        Box::pin(async move { send(&db, vec![message?]).await?.pop().ok_or_else(no_answer) })
    }
}

/// A type that does not mention the message: of a wrong one, the compiler would say so at each mention.
type Pushing = Pin<Box<dyn Future<Output = Result<JobId, ClientError>> + Send>>;

fn no_answer() -> ClientError {
    ClientError::Backend(crate::backend::BackendError::Refused(
        "the database did not answer".into(),
    ))
}

pub(super) async fn send(db: &Db, messages: Vec<Message>) -> Result<Vec<JobId>, ClientError> {
    let ids: Vec<_> = messages.iter().map(|message| message.job.id.clone()).collect();
    let answers =
        ask_pipelines(db, messages, |queues, messages| queues.push(messages, "producer")).await?;
    let pushed = ids.into_iter().zip(answers).map(|(id, answer)| {
        answer.map_err(|source| ClientError::Job { job: id.clone(), source })?;
        Ok(id)
    });
    pushed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(payloads: &[usize]) -> Vec<Vec<usize>> {
        let queue = Queue::<String>::named("q");
        let message = |bytes: &usize| queue.message(&"x".repeat(bytes - 2)).expect("a message");
        let bundles = Bundle::of(payloads.iter().map(message).collect());
        let bytes = |message: &Message| payload_bytes(&message.job.payload);
        bundles.iter().map(|bundle| bundle.messages.iter().map(bytes).collect()).collect()
    }

    #[test]
    fn units_are_added_up_and_none_are_nothing() {
        let of = |units: &[(&'static str, u32)]| {
            let queue = Queue::<u32>::named("q").resources({
                let units = units.to_vec();
                move |_| units.clone()
            });
            queue.message(&1).expect("a message").columns.resources
        };
        assert_eq!(of(&[("gpu", 1), ("gpu", 2), ("cpu", 0)]), [("gpu".to_owned(), 3)].into());
        assert_eq!(of(&[("gpu", u32::MAX), ("gpu", 1)])["gpu"], u32::MAX);
        assert!(of(&[("gpu", 0)]).is_empty());
    }

    #[test]
    fn a_call_is_bounded_in_messages_and_bytes() {
        const MB: usize = 1_000_000;
        assert_eq!(sizes(&[3 * MB; 5]), [vec![3 * MB; 2], vec![3 * MB; 2], vec![3 * MB]]);
        assert_eq!(sizes(&[MB, 9 * MB, MB]), [[MB], [9 * MB], [MB]], "a large one goes alone");
        assert_eq!(sizes(&[2; 1100]).iter().map(Vec::len).collect::<Vec<_>>(), [500, 500, 100]);
    }
}
