//! Stages that work on messages one by one.

use std::fmt;
use std::sync::Arc;

use pgflow_machine::job::JobVerdict;
use pgflow_machine::permit::{MessageEnd, batches_of};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::builder::in_tx;
use super::code::{Call, InTx, StageCode, Work, Worked, called};
use super::dead::DeadMessage;
use super::items::Outcome;
use super::onward::{Emit, Onward, ToBatch, emit, undecodable};
use super::preload::Preload;
use super::spec::{Permits, StageParts};
use super::{Batch, Batched, Items, Pipeline, PipelineSpec, Queue, Settled};
use crate::backend::ClaimedJob;
use crate::check::{Batches, Emits, StageTakes, StageTakesIn};
use crate::tx::Tx;
use crate::worker::excuses::Excuse;
use crate::{Error, Result};

/// A pipeline that works on messages one by one.
#[must_use = "a pipeline is given to a worker"]
pub struct Processed<T, U> {
    spec: PipelineSpec,
    queue: Queue<T>,
    permits: Permits,
    call: Call<T, U>,
    preload: Option<Preload>,
    takes_tx: bool,
    emits: Vec<Emit<U>>,
}

impl<T, U> fmt::Debug for Processed<T, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Processed").field(&self.spec.name).finish()
    }
}

impl<T, U> Processed<T, U> {
    pub(super) fn new(
        pipeline: Pipeline<T>,
        call: Call<T, U>,
        preload: Option<Preload>,
        takes_tx: bool,
    ) -> Self {
        let Pipeline { spec, queue, permits } = pipeline;
        Self { spec, queue, permits, call, preload, takes_tx, emits: Vec::new() }
    }

    /// Does something in the transaction in which a message of this pipeline becomes dead: it is given the message, what it died of
    /// and the transaction. If it fails, the message is dead without it, and says so. Messages that die with their process
    /// die outside of any function.
    ///
    #[cfg_attr(feature = "sqlite", doc = "```")]
    #[cfg_attr(not(feature = "sqlite"), doc = "```ignore")]
    /// use pgflow::pipeline::{Pipeline, Queue};
    ///
    /// let pipeline = Pipeline::new("sum", &Queue::<i64>::named("numbers"))
    ///     .process(|number, _ctx| async move { Ok(number) })
    ///     .on_dead(|message, why, tx| {
    ///         Box::pin(async move {
    ///             let sqlite = tx.sqlite().ok_or("not SQLite")?;
    ///             let note = format!("{}: {why}", message.id());
    ///             sqlx::query("insert into notes values (?)").bind(note).execute(sqlite).await?;
    ///             Ok(())
    ///         })
    ///     });
    /// # let _ = pipeline;
    /// ```
    pub fn on_dead<F>(mut self, function: F) -> Self
    where
        F: for<'t> Fn(DeadMessage, String, &'t mut Tx) -> InTx<'t, ()> + Send + Sync + 'static,
    {
        self.spec.on_dead = Some(Arc::new(function));
        self
    }
}

impl<T: Serialize + DeserializeOwned + Send + 'static, U: Serialize + Send + 'static>
    Processed<T, U>
{
    /// Pushes messages for each value, in the transaction that settles it: all of them, or none.
    // On one line, as the compiler shows it.
    #[rustfmt::skip]
    pub fn emit<V: Serialize + DeserializeOwned + 'static, I: Emits<V>>(mut self, queue: &Queue<V>, values: impl Fn(&U) -> I + Send + Sync + 'static) -> Self {
        self.emits.push(emit(queue, values));
        self
    }

    /// Works on batches of what was processed: each message is handed over with its new payload, in the transaction that
    /// settles it.
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn batch<W: Send + 'static, F, R: Future<Output = Result<Settled<W>>> + Send + 'static, Way>(self, batch: impl Batches<U>, function: F) -> Batched<U, W> where U: DeserializeOwned, F: StageTakes<Items<U>, R, Way> + Send + Sync + 'static {
        let call: Call<_, _> = Arc::new(move |items, ctx, _| Box::pin(function(items, ctx)));
        self.batched(batch.batch(), call, false)
    }

    /// Works on batches of what was processed, in the transaction that settles them.
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn batch_in<W: Send + 'static, F, Way>(self, batch: impl Batches<U>, function: F) -> Batched<U, W> where U: DeserializeOwned, F: StageTakesIn<Items<U>, Settled<W>, Way> + Send + Sync + 'static {
        self.batched(batch.batch(), in_tx(function), true)
    }

    fn batched<W>(
        self,
        batch: Batch<U>,
        call: Call<Items<U>, Settled<W>>,
        takes_tx: bool,
    ) -> Batched<U, W> {
        let (attempts, key) = (self.queue.attempts, batch.key.clone());
        // A program has few pipelines, for as long as it runs.
        let need: &'static str = batches_of(self.queue.name).leak();
        let spec = self.staged(Some(ToBatch { need, attempts, key }));
        Batched::of_values(spec, need, batch, call, takes_tx)
    }

    fn staged(self, batch: Option<ToBatch<U>>) -> PipelineSpec {
        let Self { mut spec, queue, permits, call, preload, takes_tx, emits } = self;
        let on_failure = queue.on_failure();
        let onward = Arc::new(Onward { emits, batch, on_failure });
        let (need, queue) = (queue.name, Arc::new(queue));
        let code: StageCode = Arc::new(move |work| {
            let (call, onward, queue) = (call.clone(), onward.clone(), queue.clone());
            Box::pin(async move {
                let mut worked = Worked { ends: Vec::new(), is_well: true, excuse: None };
                for message in work.claimed.messages.clone() {
                    let end = process(&call, &onward, &queue, &work, &message).await;
                    let goes_on = matches!(end, Ok(ref end) if !matches!(end.verdict, JobVerdict::Failed { .. }));
                    worked.is_well &= goes_on;
                    let (end, excuse) = end.map_or_else(|failed| failed, |end| (end, None));
                    worked.ends.push(end);
                    worked.excuse = worked.excuse.or(excuse);
                }
                worked
            })
        });
        spec.add(StageParts { need, permits, batch: None, code, preload, takes_tx, on_failure });
        spec
    }
}

/// The end of an attempt at a message: of one that went well, or of one that did not, with what its function says if it failed
/// because the database is in trouble.
async fn process<T, U>(
    call: &Call<T, U>,
    onward: &Onward<U>,
    queue: &Queue<T>,
    work: &Work,
    message: &ClaimedJob,
) -> std::result::Result<MessageEnd, (MessageEnd, Option<Excuse>)>
where
    T: Serialize + DeserializeOwned,
    U: Serialize,
{
    let row = &message.taken.row;
    let failed = |error: Error| (onward.failed(&error, row), Excuse::of_handler(&error));
    let value = queue.read(&message.payload).map_err(|error| (undecodable(&error), None))?;
    let shared = match &work.loading {
        Some(loading) => Some(loading.get().await.map_err(failed)?),
        None => None,
    };
    let context = work.context.clone();
    let called = called(call, value, context, work.tx.as_ref(), shared).await;
    let value = called.map_err(failed)?;
    Ok(onward.end(Ok(Outcome::Done(value)), row))
}

impl<T: Serialize + DeserializeOwned + Send + 'static, U: Serialize + Send + 'static>
    From<Processed<T, U>> for PipelineSpec
{
    fn from(pipeline: Processed<T, U>) -> Self {
        pipeline.staged(None)
    }
}
