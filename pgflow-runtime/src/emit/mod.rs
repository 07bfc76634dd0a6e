//! What a step says while it runs.

mod outlet;
mod writing;

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;

use serde::Serialize;

pub use outlet::EmitError;
pub(crate) use outlet::Outlet;

use crate::check::Sends;
use crate::data_error::{What, write};
use crate::{DataError, Error, Task};

/// The stream of a step: a parameter called `out`.
///
/// What is sent can be read at once, by [`Run::stream`](crate::client::Run::stream) and others. It is written while the step goes
/// on, and what comes meanwhile is written together. A step completes only when all is written; each attempt begins anew.
///
/// ```
/// use pgflow::prelude::*;
///
/// #[flow(input = String)]
/// mod shout {
///     use pgflow::prelude::*;
///
///     #[step]
///     pub async fn words(run: String, out: Emit<String>) -> Result<usize> {
///         for word in run.split(' ') {
///             out.send(word.to_uppercase()).await?;
///         }
///         Ok(run.len())
///     }
/// }
///
/// # pgflow::testing::block_on(async {
/// let out = Emit::for_test();
/// shout::words("hello world".to_owned(), out.clone()).await?;
/// assert_eq!(out.sent(), ["\"HELLO\"", "\"WORLD\""]);
/// # Ok::<(), pgflow::Error>(())
/// # }).unwrap();
/// ```
pub struct Emit<T> {
    outlet: Outlet,
    chunk: PhantomData<fn(T)>,
}

impl<T: Serialize> Emit<T> {
    /// Says something; a stream of texts takes them borrowed too. Ready when it will be written: at once, unless much is waiting to be.
    ///
    /// An error means that the stream cannot be written any more, or that the value cannot be a chunk. A step passes it on with
    /// `?`, and is tried again.
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn send<V>(&self, value: V) -> Emitting<'_> where Self: Sends<V, T> {
        let chunk = written(&Self::sent_as(value)).map_err(EmitError::Unwritable);
        Box::pin(async move { self.outlet.send(chunk?).await })
    }
}

/// A value on its way into a stream. It has a name: a future that had none would be of what is sent, and the compiler would
/// say of each what is wrong with that.
pub type Emitting<'a> = Pin<Box<dyn Future<Output = Result<(), EmitError>> + Send + 'a>>;

/// A value as a chunk.
pub(crate) fn written<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, DataError> {
    Ok(write(What::Chunk, value)?.to_string().into_bytes())
}

impl<T> Emit<T> {
    /// Ready when everything that was sent is written.
    pub async fn flush(&self) -> Result<(), EmitError> {
        self.outlet.flush().await
    }

    /// For calling a step's function in a test: what is sent is kept here.
    pub fn for_test() -> Self {
        Self::new(Outlet::default())
    }

    /// What was sent, as JSON: for one that was made [for a test](Self::for_test).
    pub fn sent(&self) -> Vec<String> {
        self.outlet.kept()
    }

    fn new(outlet: Outlet) -> Self {
        Self { outlet, chunk: PhantomData }
    }
}

impl<T> Clone for Emit<T> {
    fn clone(&self) -> Self {
        Self::new(self.outlet.clone())
    }
}

impl<T> fmt::Debug for Emit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Emit")
    }
}

/// A step that has a stream: its function takes an [`Emit`] called `out`. Made by `#[step]`.
#[diagnostic::on_unimplemented(
    message = "step `{Self}` has no stream",
    label = "its function takes no `out: Emit<…>`"
)]
pub trait Emits {
    /// What its chunks are.
    type Chunk;
}

/// What the chunks of a stream are, also if they cannot be written.
#[doc(hidden)]
pub trait EmitOf {
    /// What they are.
    type Chunk;
}

impl<T> EmitOf for Emit<T> {
    type Chunk = T;
}

/// A parameter called `out` is an [`Emit`].
#[diagnostic::on_unimplemented(
    message = "step `{Consumer}` takes `{Self}` as its `out`",
    label = "expected a `pgflow::Emit<T>` whose `T` can be serialized",
    note = "parameters are matched by name, and `out` is the stream of the step"
)]
pub trait IsEmit<Consumer>: Sized {
    #[doc(hidden)]
    fn from_task(task: &Task) -> Result<Self, Error>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + Send + 'static, Consumer> IsEmit<Consumer> for Emit<T> {
    fn from_task(task: &Task) -> Result<Self, Error> {
        Ok(Self::new(task.outlet().clone()))
    }
}
