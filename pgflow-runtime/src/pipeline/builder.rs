//! How a pipeline is put together: the type of each stage flows to the next.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::code::{Call, Given, InTx};
use super::preload::{Preload, Shared};
use super::spec::Permits;
use super::{Batched, Items, PipelineSpec, Processed, Queue, Settled};
use crate::check::{
    Batches, Handles, KeepsTo, Lasts, StageTakes, StageTakesIn, StageTakesLoaded,
    StageTakesLoadedIn,
};
use crate::{Error, Result};

/// What the names of limits begin with that a pipeline has for itself.
pub(super) const OWN: &str = "pgflow:limit:";

/// A pipeline whose functions are still to be said: [`process`](Self::process) for messages one by one,
/// [`batch`](Self::batch) for many at once.
#[must_use = "a pipeline is given to a worker"]
pub struct Pipeline<T> {
    pub(super) spec: PipelineSpec,
    pub(super) queue: Queue<T>,
    pub(super) permits: Permits,
}

impl<T> fmt::Debug for Pipeline<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pipeline").field(&self.spec.name).finish()
    }
}

impl<T> Pipeline<T> {
    /// A pipeline of this name, for what is pushed to this queue.
    #[expect(clippy::needless_pass_by_value, reason = "it may be owned")]
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn new<Q>(name: &'static str, queue: Q) -> Self where Self: Handles<Q, T> {
        Self::of(name, <Self as Handles<Q, T>>::queue(&queue))
    }

    fn of(name: &'static str, queue: &Queue<T>) -> Self {
        let (mut spec, mut permits) = (PipelineSpec::new(name), Permits::default());
        permits.names_resources = queue.names_resources();
        spec.keep = queue.keep;
        Self { spec, queue: queue.clone(), permits }
    }

    /// So many attempts at once, in this process. With `process` before `batch`, this is about `process`: for batches there is
    /// [`Batch::concurrency`](super::Batch::concurrency).
    pub fn concurrency(mut self, attempts: usize) -> Self {
        self.permits.concurrency = Some(attempts);
        self
    }

    /// So many attempts are claimed before there is room for them, so that they need not be waited for: none if it is not said.
    /// Their leases are kept meanwhile, and a worker that stops gives them back with no attempt used.
    pub fn prefetch(mut self, attempts: u32) -> Self {
        self.permits.prefetch = attempts;
        self
    }

    /// So many attempts at once, over all processes that share the database. One in memory (`memory:`, `sqlite::memory:`) is that of
    /// one process: there a worker with this does not start. With `process` before `batch`, this is about `process`.
    pub fn global_concurrency(mut self, attempts: u32) -> Self {
        let slug = format!("{OWN}{}", self.spec.name);
        self.permits.hold(slug.clone(), 1);
        self.spec.limits.insert(slug, attempts);
        self
    }

    /// Each attempt takes a token of this rate: a bucket in the database, for all processes. The rate counts until
    /// another is [set](super::RateHandle::set); a rate of 0 is a pause. With `process` before `batch`, it is the attempts of
    /// `process` that take them: where the batch makes the call, say it with [`Batch::rate`](super::Batch::rate).
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn rate<R>(mut self, slug: impl Into<String>, rate: R) -> Self where Self: KeepsTo<R> {
        let rate = <Self as KeepsTo<R>>::rate_of(rate);
        self.permits.rates.push((slug.into(), rate));
        self
    }

    /// Each attempt holds so many units of a [resource](crate::Db::resource), which must be there when the worker starts. What is
    /// named twice is held twice. With `process` before `batch`, it is the attempts of `process` that hold them: for those at
    /// batches there is [`Batch::resource`](super::Batch::resource).
    pub fn resource(mut self, slug: impl Into<String>, units: u32) -> Self {
        self.permits.hold(slug.into(), units);
        self
    }

    /// How long a lease lasts that nobody extends: a minute if it is not said, and a second at least. A worker extends it while the
    /// function works. With `process` before `batch`, this is about `process`: for batches there is
    /// [`Batch::lease`](super::Batch::lease).
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn lease<D>(mut self, lease: D) -> Self where Self: Lasts<D> {
        let lease = <Self as Lasts<D>>::time(lease);
        self.permits.lease = Some(lease);
        self
    }

    /// A worker that is asked to stop forms batches of what is there before it leaves. Without this it leaves them to others,
    /// which is as safe: nothing is in memory.
    pub fn flush(mut self) -> Self {
        self.spec.flushes = true;
        self
    }
}

impl<T: Serialize + DeserializeOwned + Send + 'static> Pipeline<T> {
    /// Works on messages one by one. An error is that of the message: it is tried again, with a growing pause, until it is
    /// dead.
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn process<U: Send + 'static, F, R: Future<Output = Result<U>> + Send + 'static, Way>(self, function: F) -> Processed<T, U> where F: StageTakes<T, R, Way> + Send + Sync + 'static {
        let call: Call<T, U> = Arc::new(move |message, ctx, _| Box::pin(function(message, ctx)));
        Processed::new(self, call, None, false)
    }

    /// Works on messages one by one, in the transaction that settles them: what the function writes through it is there once, with
    /// what the message emits, or not at all.
    ///
    #[cfg_attr(feature = "sqlite", doc = "```")]
    #[cfg_attr(not(feature = "sqlite"), doc = "```ignore")]
    /// use pgflow::pipeline::{Pipeline, Queue};
    ///
    /// let pipeline = Pipeline::new("book", &Queue::<i64>::named("amounts")).process_in(
    ///     |amount, _ctx, tx| {
    ///         Box::pin(async move {
    ///             let sqlite = tx.sqlite().ok_or("not SQLite")?;
    ///             sqlx::query("insert into entries values (?)").bind(amount).execute(sqlite).await?;
    ///             Ok(amount)
    ///         })
    ///     },
    /// );
    /// # let _ = pipeline;
    /// ```
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn process_in<U: Send + 'static, F, Way>(self, function: F) -> Processed<T, U> where F: StageTakesIn<T, U, Way> + Send + Sync + 'static {
        Processed::new(self, in_tx(function), None, true)
    }

    /// Loads what messages have in common, once for all messages of a claim, and gives it to the function that processes them.
    ///
    /// ```
    /// use std::collections::HashMap;
    /// use pgflow::pipeline::{Pipeline, Queue};
    ///
    /// async fn prices(of: Vec<u32>) -> pgflow::Result<HashMap<u32, u32>> {
    ///     Ok(of.into_iter().map(|article| (article, article * 10)).collect())
    /// }
    ///
    /// let pipeline = Pipeline::new("price", &Queue::<u32>::named("articles"))
    ///     .preload(prices)
    ///     .process(|article, prices, _ctx| async move { Ok(prices[&article]) });
    /// # let _ = pipeline;
    /// ```
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn preload<S: Send + Sync + 'static, F, R: Future<Output = Result<S>> + Send + 'static>(self, load: F) -> Preloaded<T, S> where F: Fn(Vec<T>) -> R + Send + Sync + 'static {
        let (load, queue) = (Arc::new(load), self.queue.clone());
        let preload: Preload = Arc::new(move |payloads| {
            // Those that nobody can read are dead anyway.
            let values = payloads.iter().filter_map(|payload| queue.read(payload).ok());
            let (load, values) = (load.clone(), values.collect::<Vec<_>>());
            Box::pin(async move {
                let shared: Shared = Arc::new(load(values).await?);
                Ok(shared)
            })
        });
        Preloaded { pipeline: self, preload, shared: std::marker::PhantomData }
    }

    /// Works on batches of messages as they were pushed.
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn batch<U: Send + 'static, F, R: Future<Output = Result<Settled<U>>> + Send + 'static, Way>(self, batch: impl Batches<T>, function: F) -> Batched<T, U> where F: StageTakes<Items<T>, R, Way> + Send + Sync + 'static {
        let call: Call<_, _> = Arc::new(move |items, ctx, _| Box::pin(function(items, ctx)));
        Batched::of_queue(self, batch.batch(), call, false)
    }

    /// Works on batches of messages as they were pushed, in the transaction that settles them.
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn batch_in<U: Send + 'static, F, Way>(self, batch: impl Batches<T>, function: F) -> Batched<T, U> where F: StageTakesIn<Items<T>, Settled<U>, Way> + Send + Sync + 'static {
        Batched::of_queue(self, batch.batch(), in_tx(function), true)
    }
}

/// A function that takes the transaction.
pub(super) fn in_tx<M: 'static, U: 'static, Way>(
    function: impl StageTakesIn<M, U, Way> + Send + Sync + 'static,
) -> Call<M, U> {
    Arc::new(move |message, ctx, mut given: Given<'_>| match given.tx() {
        Ok(tx) => function(message, ctx, tx),
        Err(error) => refused(error),
    })
}

fn refused<'t, U: 't>(error: Error) -> InTx<'t, U> {
    Box::pin(async move { Err(error) })
}

/// A pipeline that loads what the messages of a claim have in common.
#[must_use = "a pipeline is given to a worker"]
pub struct Preloaded<T, S> {
    pipeline: Pipeline<T>,
    preload: Preload,
    shared: std::marker::PhantomData<fn() -> S>,
}

impl<T, S> fmt::Debug for Preloaded<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Preloaded").field(&self.pipeline.spec.name).finish()
    }
}

impl<T: Serialize + DeserializeOwned + Send + 'static, S: Send + Sync + 'static> Preloaded<T, S> {
    /// Works on messages one by one, with what was loaded for all of their claim.
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn process<U: Send + 'static, F, R: Future<Output = Result<U>> + Send + 'static, Way>(self, function: F) -> Processed<T, U> where F: StageTakesLoaded<T, S, R, Way> + Send + Sync + 'static {
        let call: Call<T, U> = Arc::new(move |message, ctx, mut given| match given.shared() {
            Ok(shared) => Box::pin(function(message, shared, ctx)),
            Err(error) => refused(error),
        });
        Processed::new(self.pipeline, call, Some(self.preload), false)
    }

    /// The same in the transaction that settles them.
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn process_in<U: Send + 'static, F, Way>(self, function: F) -> Processed<T, U> where F: StageTakesLoadedIn<T, S, U, Way> + Send + Sync + 'static {
        let call: Call<T, U> = Arc::new(move |message, ctx, mut given| {
            match given.shared().and_then(|shared| Ok((shared, given.tx()?))) {
                Ok((shared, tx)) => function(message, shared, ctx, tx),
                Err(error) => refused(error),
            }
        });
        Processed::new(self.pipeline, call, Some(self.preload), true)
    }
}
