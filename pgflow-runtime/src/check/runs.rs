//! What workers and clients are given: flows, and values that all tasks share.
//!
//! Rules about who is given something, not about what is given: the compiler would show where that is defined. And on the line of
//! the function that has the rule, since the compiler shows every line between the two.

use serde_json::Value;

use super::InputOf;
use crate::{DataError, Flow, FlowDef, StartRun};

/// Workers and databases are given flows.
///
/// ```compile_fail
/// # use pgflow::prelude::*;
/// struct NotAFlow;
/// async fn wrong(db: pgflow::Db) {
///     db.register(NotAFlow).await;
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{F}` is not a flow",
    label = "expected a flow, such as `orders::Flow` of `#[flow] mod orders`"
)]
pub trait Runs<F> {
    #[doc(hidden)]
    const DEF: &'static FlowDef;
    #[doc(hidden)]
    type Flow: Flow;
    #[doc(hidden)]
    fn given(flow: F) -> Self::Flow;
}

#[diagnostic::do_not_recommend]
impl<F: Flow, Who> Runs<F> for Who {
    const DEF: &'static FlowDef = F::DEF;
    type Flow = F;
    fn given(flow: F) -> F {
        flow
    }
}

/// Runs are started of flows, whose input is known.
///
/// ```compile_fail
/// # use pgflow::prelude::*;
/// struct NotAFlow;
/// fn wrong(db: pgflow::Db) {
///     let _ = db.start(NotAFlow, &7);
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{F}` is not a flow",
    label = "expected a flow, such as `orders::Flow` of `#[flow] mod orders`"
)]
pub trait Starts<F, Input> {
    #[doc(hidden)]
    const DEF: &'static FlowDef;
    #[doc(hidden)]
    type Output;
    #[doc(hidden)]
    fn stored(input: &Input) -> Result<Value, DataError>;
}

#[diagnostic::do_not_recommend]
impl<F: Flow, Who> Starts<F, F::Input> for Who {
    const DEF: &'static FlowDef = F::DEF;
    type Output = F::Output;
    fn stored(input: &F::Input) -> Result<Value, DataError> {
        StartRun::<F>::new(input).map(StartRun::into_input)
    }
}

/// A run is started with the input of its flow, owned or borrowed.
///
/// ```compile_fail
/// # use pgflow::prelude::*;
/// #[flow(input = u8)]
/// mod billing { #[step] pub async fn invoice(run: u8) -> pgflow::Result<u8> { Ok(run) } }
///
/// fn wrong(db: pgflow::Db) {
///     let _ = db.start(billing::Flow, "seven");
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "the input of this flow is `{Input}`, not `{Given}`",
    label = "expected `{Input}`"
)]
pub trait Takes<Given, Input> {
    #[doc(hidden)]
    fn taken(given: &Given) -> &Input;
}

// By way of another trait: only of a rule that is broken inside an `impl` does the compiler not show the call as well.
#[diagnostic::do_not_recommend]
impl<Given: InputOf<Input>, Input, Who> Takes<Given, Input> for Who {
    fn taken(given: &Given) -> &Input {
        given.given()
    }
}

/// Runs are started with inputs of their flow, owned or borrowed.
///
/// ```compile_fail
/// # use pgflow::prelude::*;
/// #[flow(input = u8)]
/// mod billing { #[step] pub async fn invoice(run: u8) -> pgflow::Result<u8> { Ok(run) } }
///
/// fn wrong(ctx: pgflow::Context) {
///     let _ = ctx.run_all(billing::Flow, 7_u8);
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "this takes inputs, each a `{Input}`, and `{Given}` is not a list of them",
    label = "expected several `{Input}`"
)]
pub trait TakesAll<Given, Input> {
    #[doc(hidden)]
    fn each<R, E>(given: Given, made: impl FnMut(&Input) -> Result<R, E>) -> Result<Vec<R>, E>;
}

#[diagnostic::do_not_recommend]
impl<Given: IntoIterator<Item: InputOf<Input>>, Input, Who> TakesAll<Given, Input> for Who {
    fn each<R, E>(given: Given, mut made: impl FnMut(&Input) -> Result<R, E>) -> Result<Vec<R>, E> {
        given.into_iter().map(|input| made(input.given())).collect()
    }
}

/// A worker works for a database, owned or borrowed.
///
/// ```compile_fail
/// let _ = pgflow::Worker::new("memory:");
/// ```
#[cfg(feature = "engine")]
#[diagnostic::on_unimplemented(
    message = "a worker works for a `Db`, not for `{D}`",
    label = "expected a `Db`, such as that of `Db::connect(url).await?`"
)]
pub trait WorksFor<D> {
    #[doc(hidden)]
    fn db(of: &D) -> &crate::Db;
}

#[cfg(feature = "engine")]
#[diagnostic::do_not_recommend]
impl<D: AsRef<crate::Db>, Who> WorksFor<D> for Who {
    fn db(of: &D) -> &crate::Db {
        of.as_ref()
    }
}

/// Workers are given kinds of jobs.
///
/// ```compile_fail
/// # use pgflow::prelude::*;
/// struct NotAJob;
/// fn wrong(db: pgflow::Db) {
///     let _ = Worker::new(&db).job(NotAJob);
/// }
/// ```
#[cfg(feature = "engine")]
#[diagnostic::on_unimplemented(
    message = "`{J}` is not a kind of job",
    label = "expected one, such as `invoice::Job` of `#[job] mod invoice`"
)]
pub trait WorksOn<J> {
    #[doc(hidden)]
    type Job: crate::job::Job;
}

#[cfg(feature = "engine")]
#[diagnostic::do_not_recommend]
impl<J: crate::job::Job, Who> WorksOn<J> for Who {
    type Job = J;
}

/// Workers are given pipelines.
///
/// ```compile_fail
/// # use {pgflow::pipeline::Queue, pgflow::prelude::*};
/// fn wrong(db: pgflow::Db) {
///     let _ = Worker::new(&db).pipeline(Queue::<u8>::named("words"));
/// }
/// ```
#[cfg(feature = "engine")]
#[diagnostic::on_unimplemented(
    message = "`{P}` is not a pipeline",
    label = "expected one that has its function: `Pipeline::new(…).process(…)`"
)]
pub trait WorksThrough<P> {
    #[doc(hidden)]
    fn through(pipeline: P) -> crate::pipeline::PipelineSpec;
}

#[cfg(feature = "engine")]
#[diagnostic::do_not_recommend]
impl<P: Into<crate::pipeline::PipelineSpec>, Who> WorksThrough<P> for Who {
    fn through(pipeline: P) -> crate::pipeline::PipelineSpec {
        pipeline.into()
    }
}

/// Application state is shared by all tasks of a worker.
///
/// ```compile_fail
/// # use pgflow::prelude::*;
/// struct NotClone;
/// fn wrong(db: pgflow::Db) {
///     let _ = Worker::new(&db).state(NotClone);
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{T}` cannot be handed to every task",
    label = "it is not `Clone + Send + Sync + 'static`: keep it in an `Arc`"
)]
pub trait Shares<T> {
    #[doc(hidden)]
    #[must_use]
    fn sharing(self, value: T) -> Self;
}

/// What is applied to a database are the migrations of flows.
///
/// ```compile_fail
/// async fn wrong(db: pgflow::Db) {
///     let _ = db.apply("migrations").await;
/// }
/// ```
#[cfg(feature = "engine")]
#[diagnostic::on_unimplemented(
    message = "these are no migrations of flows",
    label = "expected `&pgflow::migrations!()`"
)]
pub trait Applies<Given> {
    #[doc(hidden)]
    fn migrations(given: &Given) -> crate::FlowMigrations;
}

#[cfg(feature = "engine")]
#[diagnostic::do_not_recommend]
impl<Given: InputOf<crate::FlowMigrations>, Who> Applies<Given> for Who {
    fn migrations(given: &Given) -> crate::FlowMigrations {
        *given.given()
    }
}
