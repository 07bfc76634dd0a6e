//! What batches are to be.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::permit::{BatchRule, Rate};

use super::spec::Permits;
use crate::check::Lasts;

pub(super) type KeyOf<T> = Arc<dyn Fn(&T) -> String + Send + Sync>;

/// What a batch is to be, and what it takes to work on one.
///
/// ```
/// use std::time::Duration;
/// use pgflow::pipeline::{Batch, Rate};
///
/// let batch = Batch::<String>::len(96)
///     .bytes(1 << 20)
///     .wait(Duration::from_millis(250))
///     .key(|chunk| chunk.len().to_string())
///     .resource("gpu", 1)
///     .rate("openai", Rate::per_minute(3_000).burst(200));
/// # let _ = batch;
/// ```
#[must_use = "a batch is given to a pipeline"]
pub struct Batch<T> {
    pub(super) rule: BatchRule,
    pub(super) key: Option<KeyOf<T>>,
    pub(super) permits: Permits,
}

impl<T> fmt::Debug for Batch<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch").field("rule", &self.rule).finish_non_exhaustive()
    }
}

impl<T> Batch<T> {
    /// Of so many messages, or of fewer after a second. At most 10,000, which is what one claim looks at: a worker with a pipeline that
    /// says more does not start.
    pub fn len(len: u32) -> Self {
        let rule = BatchRule { len, bytes: None, wait: Duration::from_secs(1) };
        Self { rule, key: None, permits: Permits::default() }
    }

    /// Of so many bytes of payload at most. A larger message is a batch of its own.
    pub fn bytes(mut self, bytes: u64) -> Self {
        self.rule.bytes = Some(bytes);
        self
    }

    /// A batch that is not full is formed so long after its oldest message became ready, by the database's clock.
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn wait<D>(mut self, wait: D) -> Self where Self: Lasts<D> {
        let wait = <Self as Lasts<D>>::time(wait);
        self.rule.wait = wait;
        self
    }

    /// Only messages of one key are in a batch. Without `process` before it, the queue has to say so
    /// ([`Queue::batch_by`](super::Queue::batch_by)), since claims go by what was known when a message was pushed: a worker with a
    /// pipeline that says it here instead does not start.
    pub fn key(mut self, key: impl Fn(&T) -> String + Send + Sync + 'static) -> Self {
        self.key = Some(Arc::new(key));
        self
    }

    /// So many batches at once, in this process.
    pub fn concurrency(mut self, batches: usize) -> Self {
        self.permits.concurrency = Some(batches);
        self
    }

    /// Each batch holds so many units of a resource while it is worked on. What is named twice is held twice, also if that is said
    /// of the pipeline.
    pub fn resource(mut self, slug: impl Into<String>, units: u32) -> Self {
        self.permits.hold(slug.into(), units);
        self
    }

    /// Each batch takes a token of this rate.
    pub fn rate(mut self, slug: impl Into<String>, rate: Rate) -> Self {
        self.permits.rates.push((slug.into(), rate));
        self
    }

    /// How long a lease lasts that nobody extends: a minute if it is not said, and a second at least.
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn lease<D>(mut self, lease: D) -> Self where Self: Lasts<D> {
        let lease = <Self as Lasts<D>>::time(lease);
        self.permits.lease = Some(lease);
        self
    }
}
