//! Parameters that are not data.

use crate::extract::Extract;
use crate::{Context, Error, Task};

/// A parameter called `ctx` is a [`Context`].
///
/// ```compile_fail
/// #[pgflow::flow]
/// mod wrong {
///     #[step]
///     async fn count(ctx: u32) -> pgflow::Result<u32> { Ok(ctx) }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "step `{Consumer}` takes `{Self}` as its `ctx`",
    label = "expected `pgflow::Context`",
    note = "parameters are matched by name, and `ctx` is the context of the run"
)]
pub trait IsContext<Consumer>: Sized {
    #[doc(hidden)]
    fn from_task(task: &Task) -> Result<Self, Error>;
}

#[diagnostic::do_not_recommend]
impl<Consumer> IsContext<Consumer> for Context {
    fn from_task(task: &Task) -> Result<Self, Error> {
        Self::extract(task)
    }
}

/// Application state can be handed to every task.
///
/// ```compile_fail
/// #[pgflow::flow]
/// mod wrong {
///     struct NotClone;
///     #[step]
///     async fn count(state: pgflow::State<NotClone>) -> pgflow::Result<u32> { Ok(1) }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Consumer}` takes `{Self}`, which cannot be handed to every task",
    label = "expected a `pgflow::State<T>` whose `T` is `Clone + Send + Sync + 'static`",
    note = "keep what cannot be cloned in an `Arc`; a `State` of another library is none of ours"
)]
pub trait IsState<Consumer>: Sized {
    #[doc(hidden)]
    fn from_task(task: &Task) -> Result<Self, Error>;
}

#[diagnostic::do_not_recommend]
impl<T: Extract, Consumer> IsState<Consumer> for T {
    fn from_task(task: &Task) -> Result<Self, Error> {
        T::extract(task)
    }
}

/// A parameter called `tx` is a [`Tx`](crate::Tx).
///
/// ```compile_fail
/// # use pgflow::prelude::*;
/// mod other { pub struct Tx; }
/// #[pgflow::flow]
/// mod wrong {
///     #[step]
///     async fn count(tx: &mut super::other::Tx) -> pgflow::Result<u32> { Ok(1) }
/// }
/// ```
#[cfg(feature = "engine")]
#[diagnostic::on_unimplemented(
    message = "`{Consumer}` takes `{Self}` as its `tx`",
    label = "expected `&mut pgflow::Tx`",
    note = "parameters are matched by name, and `tx` is the transaction that records the completion"
)]
pub trait IsTransaction<Consumer> {
    #[doc(hidden)]
    fn lend(tx: &mut crate::Tx) -> &mut Self;
}

#[cfg(feature = "engine")]
#[diagnostic::do_not_recommend]
impl<Consumer> IsTransaction<Consumer> for crate::Tx {
    fn lend(tx: &mut crate::Tx) -> &mut Self {
        tx
    }
}
