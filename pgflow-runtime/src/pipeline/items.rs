//! Batches in the hands of a function.

use pgflow_machine::permit::Trigger;

use crate::{Error, Result};

/// The messages of a batch. It can only be turned into a result by saying what became of each of them.
///
/// A function that returns an error instead fails all of them, an attempt each. An attempt that is cancelled, or
/// [given up](Self::release), gives them back with no attempt used.
///
/// ```
/// use pgflow::pipeline::Items;
///
/// let batch = Items::for_test(["a", "bb"]);
/// let settled = batch.settle(|at, word| {
///     if word.len() > 1 { Err(pgflow::Error::fatal("too long")) } else { Ok(at) }
/// });
/// assert_eq!(format!("{settled:?}"), "Settled { done: 1, failed: 1, released: 0, .. }");
/// ```
#[derive(Debug)]
#[must_use = "say what became of each message: `batch.settle(…)`"]
pub struct Items<T> {
    id: String,
    messages: Vec<T>,
    trigger: Option<Trigger>,
}

/// What became of each message of a batch.
#[must_use = "a function for batches returns it"]
pub struct Settled<U> {
    pub(super) id: String,
    pub(super) outcomes: Vec<Outcome<U>>,
}

/// What became of a message.
pub(super) enum Outcome<U> {
    Done(U),
    Failed(Error),
    Released,
}

impl<U> std::fmt::Debug for Settled<U> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let count = |is: fn(&Outcome<U>) -> bool| self.outcomes.iter().filter(|it| is(it)).count();
        f.debug_struct("Settled")
            .field("done", &count(|it| matches!(it, Outcome::Done(_))))
            .field("failed", &count(|it| matches!(it, Outcome::Failed(_))))
            .field("released", &count(|it| matches!(it, Outcome::Released)))
            .finish_non_exhaustive()
    }
}

impl<T> Items<T> {
    pub(super) fn new(id: String, messages: Vec<T>, trigger: Option<Trigger>) -> Self {
        Self { id, messages, trigger }
    }

    /// A batch to call a function with in a unit test.
    pub fn for_test(items: impl IntoIterator<Item = T>) -> Self {
        Self::new("test".to_owned(), items.into_iter().collect(), None)
    }

    /// The messages, in their order.
    pub fn items(&self) -> &[T] {
        &self.messages
    }

    /// How many there are: at least one.
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// Whether there is none, which cannot be of a batch that a worker gives to a function.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Why the batch is one.
    pub fn trigger(&self) -> Option<Trigger> {
        self.trigger
    }

    /// Says of each message what it became: a value, or an error of its own, which is tried again, later or
    /// [never](Error::fatal).
    pub fn settle<U>(self, mut outcome: impl FnMut(usize, T) -> Result<U>) -> Settled<U> {
        let outcomes =
            self.messages.into_iter().enumerate().map(|(at, item)| match outcome(at, item) {
                Ok(value) => Outcome::Done(value),
                Err(error) => Outcome::Failed(error),
            });
        Settled { id: self.id, outcomes: outcomes.collect() }
    }

    /// All of them went well.
    pub fn settle_all<U>(self, mut value: impl FnMut(T) -> U) -> Settled<U> {
        self.settle(|_, item| Ok(value(item)))
    }

    /// None of them was worked on: they are given back, and no attempt is used up.
    pub fn release<U>(self) -> Settled<U> {
        let outcomes = self.messages.into_iter().map(|_| Outcome::Released).collect();
        Settled { id: self.id, outcomes }
    }
}
