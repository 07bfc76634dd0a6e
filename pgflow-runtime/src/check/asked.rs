//! What clients and tests ask for: runs and chunks by type, and jobs that wait.
//!
//! A bound on an associated type (`Read: Sized`) lets the compiler stop at the name of the method, before it shows our function.

use pgflow_machine::job::Wait;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::DataError;
use crate::client::Run;
use crate::emit::written;

/// A step is looked at in a run of its own flow.
///
/// ```compile_fail
/// # use {pgflow::prelude::*, pgflow::testing::Sim};
/// #[flow] mod ping { #[step] pub async fn pong() -> pgflow::Result<u8> { Ok(1) } }
/// #[flow] mod other { #[step] pub async fn one() -> pgflow::Result<u8> { Ok(1) } }
/// fn wrong(sim: &Sim, run: &pgflow::Run<other::Flow>) {
///     let _ = sim.error::<ping::pong>(run);
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "this is a `{Self}`, and the step belongs to `{F}`",
    label = "expected a run of `{F}`"
)]
pub trait RunOf<F> {
    #[doc(hidden)]
    fn of(&self) -> &Run<F>;
}

#[diagnostic::do_not_recommend]
impl<F, R: SomeRun<Of = F>> RunOf<F> for R {
    fn of(&self) -> &Run<F> {
        self.some()
    }
}

/// By way of another trait: the compiler would show of which flows a `Run` is one.
#[doc(hidden)]
pub trait SomeRun {
    type Of;
    fn some(&self) -> &Run<Self::Of>;
}

#[diagnostic::do_not_recommend]
impl<F> SomeRun for Run<F> {
    type Of = F;
    fn some(&self) -> &Self {
        self
    }
}

/// Chunks and outputs of jobs are read as something that can be.
///
/// ```compile_fail
/// struct Plain;
/// fn wrong(stream: pgflow::stream::NamedStream) {
///     let _ = stream.read::<Plain>();
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "this cannot be read as `{T}`: derive `Deserialize` for it and for what it holds, as `#[data]` does",
    label = "`{T}` is not `Deserialize`, or borrows"
)]
pub trait Reads<T> {
    #[doc(hidden)]
    type Read: DeserializeOwned + 'static;
    #[doc(hidden)]
    fn read_as(read: Self::Read) -> T;
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + 'static, Who> Reads<T> for Who {
    type Read = T;
    fn read_as(read: T) -> T {
        read
    }
}

/// Chunks are written from something that can be.
///
/// ```compile_fail
/// struct Plain;
/// fn wrong(mut writer: pgflow::stream::StreamWriter) {
///     let _ = writer.send(&Plain);
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{T}` cannot be a chunk: derive `Serialize` for it and for what it holds, as `#[data]` does",
    label = "`{T}` is not `Serialize`"
)]
pub trait Writes<T: ?Sized> {
    #[doc(hidden)]
    fn chunk(value: &T) -> Result<Vec<u8>, DataError>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + ?Sized, Who> Writes<T> for Who {
    fn chunk(value: &T) -> Result<Vec<u8>, DataError> {
        written(value)
    }
}

/// A step sends what its stream is of.
///
/// ```compile_fail
/// # use pgflow::prelude::*;
/// #[flow] mod wrong {
///     use super::*;
///     #[step] async fn count(out: Emit<String>) -> Result<u8> { out.send(7).await?; Ok(1) }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "this stream is of `{Chunk}`, and `{Given}` is sent",
    label = "expected `{Chunk}`"
)]
pub trait Sends<Given, Chunk> {
    #[doc(hidden)]
    fn sent_as(given: Given) -> Chunk;
}

// By way of another trait: only of a rule that is broken inside an `impl` does the compiler not show the call as well.
#[diagnostic::do_not_recommend]
impl<Given: ChunkOf<Chunk>, Chunk, Who> Sends<Given, Chunk> for Who {
    fn sent_as(given: Given) -> Chunk {
        given.chunk()
    }
}

/// What is sent: the chunk itself, or a text that is borrowed.
#[doc(hidden)]
pub trait ChunkOf<Chunk> {
    fn chunk(self) -> Chunk;
}

#[diagnostic::do_not_recommend]
impl<T> ChunkOf<T> for T {
    fn chunk(self) -> T {
        self
    }
}

#[diagnostic::do_not_recommend]
impl ChunkOf<String> for &str {
    fn chunk(self) -> String {
        self.to_owned()
    }
}

/// A job waits for jobs and for runs, by id or handle.
///
/// ```compile_fail
/// # use pgflow::prelude::*;
/// #[job] mod parcel { use super::*; #[need] pub async fn send() -> Result<Next> { Ok(Next::done(1)) } }
/// fn wrong(db: pgflow::Db) {
///     let _ = db.submit::<parcel::send>(&()).after([7]);
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "a job waits for jobs and runs, not for what is in `{I}`",
    label = "expected ids of jobs or of runs"
)]
pub trait WaitsFor<I> {
    #[doc(hidden)]
    fn waits(waits: I) -> Vec<Wait>;
}

#[diagnostic::do_not_recommend]
impl<I: IntoIterator<Item: Into<Wait>>, Who> WaitsFor<I> for Who {
    fn waits(waits: I) -> Vec<Wait> {
        waits.into_iter().map(Into::into).collect()
    }
}

/// Several jobs are submitted with payloads of their need.
///
/// ```compile_fail
/// # use pgflow::prelude::*;
/// #[job] mod parcel { use super::*; #[need] pub async fn send(job: u8) -> Result<Next> { Ok(Next::done(job)) } }
/// fn wrong(db: pgflow::Db) {
///     let _ = db.submit_all::<parcel::send>(["seven"]);
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "payloads of this need are `{Payload}`, and those in `{Self}` are not",
    label = "expected `{Payload}`, one or many"
)]
pub trait PayloadsOf<Payload> {
    #[doc(hidden)]
    type Each: Iterator<Item = Payload>;
    #[doc(hidden)]
    fn each(self) -> Self::Each;
}

#[diagnostic::do_not_recommend]
impl<I: IntoIterator<Item = Payload>, Payload> PayloadsOf<Payload> for I {
    type Each = I::IntoIter;
    fn each(self) -> I::IntoIter {
        self.into_iter()
    }
}
