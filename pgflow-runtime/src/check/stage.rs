//! Stages of pipelines: what comes out of one is what the next takes.
//!
//! With a plain `Fn` in a signature, the compiler shows two signatures at length of a function that takes something else. It
//! does so wherever a rule can only hold by such a call; so these could hold in a second way, and it says that they do not.

use std::sync::Arc;

use super::argument::Is;
use crate::pipeline::{Batch, InTx, MessageContext};
use crate::tx::Tx;

/// The way in which a rule holds: the function can be called with what comes.
#[doc(hidden)]
#[derive(Debug)]
pub enum ByCall {}

/// The second way, in which none does.
#[doc(hidden)]
#[derive(Debug)]
pub enum Otherwise {}

/// What nothing is.
#[doc(hidden)]
pub trait Never {}

macro_rules! taker {
    ($(#[$doc:meta])* $name:ident, $inner:ident<$($with:ident),+>, $label:literal, $($call:tt)+) => {
        $(#[$doc])*
        #[diagnostic::on_unimplemented(
            message = "what reaches this stage is `{M}`, and its function takes something else",
            label = $label
        )]
        pub trait $name<$($with,)+ Way>: $($call)+ {}

        // By way of another trait: only of a rule that is broken inside an `impl` does the compiler not show the call as well.
        #[diagnostic::do_not_recommend]
        impl<$($with,)+ Way, Code: $inner<$($with,)+ Way>> $name<$($with,)+ Way> for Code {}

        #[doc(hidden)]
        pub trait $inner<$($with,)+ Way>: $($call)+ {}

        #[diagnostic::do_not_recommend]
        impl<$($with,)+ Code: $($call)+> $inner<$($with,)+ ByCall> for Code {}

        #[diagnostic::do_not_recommend]
        impl<$($with,)+ Code: Never + $($call)+> $inner<$($with,)+ Otherwise> for Code {}
    };
}

taker! {
    /// A function takes what comes out of the stage before it.
    ///
    /// ```compile_fail
    /// use pgflow::pipeline::{Pipeline, Queue};
    ///
    /// let _ = Pipeline::new("wrong", &Queue::<String>::named("words"))
    ///     .process(|number: u32, _ctx| async move { Ok(number) });
    /// ```
    StageTakes, Calls<M, R>,
    "expected a function that takes `{M}` and its context",
    Fn(M, MessageContext) -> R
}

taker! {
    /// The same for one that works in the transaction which settles its messages.
    ///
    /// ```compile_fail
    /// use pgflow::pipeline::{Pipeline, Queue};
    ///
    /// let _ = Pipeline::new("wrong", &Queue::<String>::named("words"))
    ///     .process_in(|number: u32, _ctx, _tx| Box::pin(async move { Ok(number) }));
    /// ```
    StageTakesIn, CallsIn<M, U>,
    "expected a function that takes `{M}`, its context and the transaction, and returns a boxed future",
    for<'t> Fn(M, MessageContext, &'t mut Tx) -> InTx<'t, U>
}

taker! {
    /// The same for one that is given what was loaded.
    ///
    /// ```compile_fail
    /// use pgflow::pipeline::{Pipeline, Queue};
    ///
    /// let _ = Pipeline::new("wrong", &Queue::<String>::named("words"))
    ///     .preload(|words| async move { Ok(words.len()) })
    ///     .process(|number: u32, _loaded, _ctx| async move { Ok(number) });
    /// ```
    StageTakesLoaded, CallsLoaded<M, S, R>,
    "expected a function that takes `{M}`, an `Arc` of the `{S}` that was loaded, and its context",
    Fn(M, Arc<S>, MessageContext) -> R
}

taker! {
    /// The same for one that is given what was loaded, and works in the transaction which settles its messages.
    ///
    /// ```compile_fail
    /// use pgflow::pipeline::{Pipeline, Queue};
    ///
    /// let _ = Pipeline::new("wrong", &Queue::<String>::named("words"))
    ///     .preload(|words| async move { Ok(words.len()) })
    ///     .process_in(|number: u32, _loaded, _ctx, _tx| Box::pin(async move { Ok(number) }));
    /// ```
    StageTakesLoadedIn, CallsLoadedIn<M, S, U>,
    "expected a function that takes `{M}`, an `Arc` of the `{S}` that was loaded, its context and the transaction, and returns a boxed future",
    for<'t> Fn(M, Arc<S>, MessageContext, &'t mut Tx) -> InTx<'t, U>
}

/// Batches are formed of what comes out of the stage before.
///
/// ```compile_fail
/// use pgflow::pipeline::{Batch, Pipeline, Queue};
///
/// let _ = Pipeline::new("wrong", &Queue::<String>::named("words"))
///     .batch(Batch::<u32>::len(2), |batch, _ctx| async move { Ok(batch.settle_all(|word| word)) });
/// ```
#[diagnostic::on_unimplemented(
    message = "what reaches this stage is `{M}`, and this forms batches of something else",
    label = "expected `Batch<{M}>`, found `{Self}`"
)]
pub trait Batches<M> {
    #[doc(hidden)]
    fn batch(self) -> Batch<M>;
}

#[diagnostic::do_not_recommend]
impl<Given: Is<Batch<M>>, M> Batches<M> for Given {
    fn batch(self) -> Batch<M> {
        self.itself()
    }
}
