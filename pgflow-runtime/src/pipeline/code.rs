//! The code of stages, behind JSON.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::FutureExt;
use pgflow_machine::permit::MessageEnd;

use super::MessageContext;
use super::preload::{Loading, Shared};
use crate::backend::ClaimedBatch;
use crate::tx::{Lent, Tx, TxSlot};
use crate::worker::excuses::Excuse;
use crate::worker::panic_text;
use crate::{Error, Result};

pub(crate) type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// What a function with `tx: &mut Tx` returns: `Box::pin(async move { … })`.
pub type InTx<'t, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 't>>;

/// What was claimed for one attempt, with what its function is given.
pub(crate) struct Work {
    pub(crate) claimed: ClaimedBatch,
    pub(crate) context: MessageContext,
    /// The transaction that it works in, if the stage takes one.
    pub(crate) tx: Option<TxSlot>,
    /// What was loaded for its claim, if the stage loads something.
    pub(crate) loading: Option<Arc<Loading>>,
}

/// What came of an attempt.
pub(crate) struct Worked {
    /// An end for each message, in their order.
    pub(crate) ends: Vec<MessageEnd>,
    /// Whether what the function wrote in its transaction counts.
    pub(crate) is_well: bool,
    /// What the function says if it fails because the database is in trouble.
    pub(crate) excuse: Option<Excuse>,
}

/// Works on what was claimed for one attempt.
pub(crate) type StageCode = Arc<dyn Fn(Work) -> BoxFuture<Worked> + Send + Sync>;

/// What a function is given besides what it works on.
pub(super) struct Given<'t> {
    tx: Option<&'t mut Tx>,
    shared: Option<Shared>,
}

impl<'t> Given<'t> {
    /// The transaction of the attempt.
    pub(super) fn tx(&mut self) -> Result<&'t mut Tx> {
        self.tx.take().ok_or_else(|| Error::fatal("there is no transaction for this attempt"))
    }

    /// What was loaded for its claim.
    pub(super) fn shared<S: Send + Sync + 'static>(&mut self) -> Result<Arc<S>> {
        let shared = self.shared.take().and_then(|shared| shared.downcast().ok());
        shared.ok_or_else(|| Error::fatal("nothing was loaded for this attempt"))
    }
}

/// A function of a stage, for messages or batches `M`.
pub(super) type Call<M, U> =
    Arc<dyn for<'t> Fn(M, MessageContext, Given<'t>) -> InTx<'t, U> + Send + Sync>;

/// Calls it. If it panics, its transaction is gone.
pub(super) async fn called<M, U>(
    call: &Call<M, U>,
    message: M,
    context: MessageContext,
    tx: Option<&TxSlot>,
    shared: Option<Shared>,
) -> Result<U> {
    let run = async {
        let mut lent = tx.and_then(Lent::new);
        let given = Given { tx: lent.as_mut().map(Lent::get), shared };
        let outcome = call(message, context, given).await;
        lent.into_iter().for_each(Lent::give_back);
        outcome
    };
    caught(run).await
}

/// A function that panics has failed.
pub(super) async fn caught<T>(call: impl Future<Output = Result<T>>) -> Result<T> {
    let caught = AssertUnwindSafe(call).catch_unwind().await;
    caught.unwrap_or_else(|panic| Err(Error::from(panic_text(panic))))
}
