//! Starting runs.

use std::fmt::Display;
use std::future::IntoFuture;
use std::marker::PhantomData;
use std::pin::Pin;

use pgflow_machine::{Begins, RunId, Timestamp};
use serde_json::Value;

use super::check::input_of;
use super::patience::unless_dropped;
use super::{ClientError, Run};
use crate::backend::{NewRun, Started};
use crate::check::{Lasts, Starts, Takes};
use crate::db::{Db, program};
use crate::{DataError, Flow, FlowDef, StartIn, StartRun};

impl Db {
    /// A run of this flow, to be started by `.await`. Its input, owned or borrowed, is checked before anything is written.
    ///
    /// ```
    /// # use pgflow::prelude::*;
    /// # #[flow(input = u8)] mod count { #[step] pub async fn one(run: u8) -> pgflow::Result<u8> { Ok(run) } }
    /// # async fn example(db: pgflow::Db) -> Result<(), pgflow::ClientError> {
    /// let run = db.start(count::Flow, 7).await?;
    /// let again = db.start(count::Flow, &7).key("order 7").await?; // at most one run of this key
    /// # Ok(())
    /// # }
    /// ```
    #[expect(clippy::needless_pass_by_value, reason = "an input may be owned")]
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn start<F, I, G>(&self, _flow: F, input: G) -> Start<'_, F> where Self: Starts<F, I> + Takes<G, I> {
        let input = <Self as Starts<F, I>>::stored(<Self as Takes<G, I>>::taken(&input));
        Start::new(self, <Self as Starts<F, I>>::DEF, input)
    }

    /// A run that exists if and only if the caller's transaction commits. `tx` is a transaction of `sqlx`, a
    /// connection with one open, or the [`Tx`](crate::Tx) of a step, on the same database.
    pub fn start_in<'a, F: 'static, I, G>(
        &'a self,
        tx: &'a mut (dyn StartIn + Send),
        flow: F,
        input: G,
    ) -> Starting<'a, F>
    where
        Self: Starts<F, I> + Takes<G, I>,
    {
        // Made here, so that the future does not hold the input.
        Box::pin(self.start(flow, input).within(tx))
    }

    /// Like [`start`](Self::start), with an input that is JSON: it must have the form of the flow's input.
    pub fn start_json<F: Flow>(&self, _flow: F, input: Value) -> Start<'_, F> {
        let input = StartRun::<F>::from_json(input).map(StartRun::into_input);
        Start::new(self, F::DEF, input)
    }
}

/// A type that does not mention the transaction: of what is none, the compiler would say so at each mention.
type Starting<'a, F> = Pin<Box<dyn Future<Output = Result<Run<F>, ClientError>> + Send + 'a>>;

/// A run that starts when this is awaited.
///
/// It is a run of the newest version of the flow that takes and puts out what this program was compiled for. If the database has
/// none, the error is [`BackendError::UnknownVersion`](crate::backend::BackendError::UnknownVersion).
///
/// A future that is dropped, as by a timeout, starts nothing later: it is withdrawn if the database has not got it
/// yet. If it has, the run may or may not have started. Where that matters, give the start a
/// [`key`](Self::key) or an [`id`](Self::id): started again, it is the same run, and [`Db::get`] finds it.
///
/// ```
/// # use pgflow::prelude::*;
/// # #[flow(input = u8)] mod count { #[step] pub async fn one(run: u8) -> pgflow::Result<u8> { Ok(run) } }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// # let db = pgflow::Db::connect("memory:").await?;
/// # db.register(count::Flow).await?;
/// let run = db.start(count::Flow, &7).key("order 7").await?;
/// let same = db.start(count::Flow, &8).key("order 7").await?;
/// assert_eq!(run.id(), same.id());
/// # Ok(()) })
/// # }
/// ```
#[must_use = "a run starts with `.await`"]
#[derive(Debug)]
pub struct Start<'a, F> {
    db: &'a Db,
    flow: &'static FlowDef,
    input: Result<Value, DataError>,
    id: Option<RunId>,
    begins: Begins,
    of: PhantomData<fn() -> F>,
}

impl<'a, F> Start<'a, F> {
    fn new(db: &'a Db, flow: &'static FlowDef, input: Result<Value, DataError>) -> Self {
        Self { db, flow, input, id: None, begins: Begins::Now, of: PhantomData }
    }
}

// For any `F`, as `Db::start` has said already what is none: a bound here would say it again.
impl<F: 'static> Start<'_, F> {
    /// With this id. If there is a run of this id, that one is returned, and keeps its own input.
    pub fn id(self, id: RunId) -> Self {
        Self { id: Some(id), ..self }
    }

    /// With the id that this key of your application stands for: there is at most one run of the flow per key,
    /// however often it is started.
    pub fn key(self, key: impl Display) -> Self {
        let id = RunId::from_key(self.flow.slug, &key.to_string());
        self.id(id)
    }

    /// It begins at this moment by the clock of the database, at once if that is over. The run is there before, can be watched and
    /// cancelled, and its first tasks wait: [`StepWork::next_at`](crate::backend::StepWork::next_at) says until when.
    pub fn at(self, moment: impl Into<Timestamp>) -> Self {
        Self { begins: Begins::At(moment.into()), ..self }
    }

    /// It begins after so long, by the clock of the database: see [`at`](Self::at).
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn delay<D>(self, delay: D) -> Self where Self: Lasts<D> {
        let delay = <Self as Lasts<D>>::time(delay);
        Self { begins: Begins::After(delay), ..self }
    }

    /// Starts it in a transaction: see [`Db::start_in`]. Workers may take a second to notice it.
    pub async fn within(self, tx: &mut (dyn StartIn + Send)) -> Result<Run<F>, ClientError> {
        let db = self.db.clone();
        let run = self.new_run().await?;
        let id = run.id;
        let started = tx.start_run(run).await?;
        Ok(Run::new(db, id, started == Started::Created))
    }

    async fn new_run(self) -> Result<NewRun, ClientError> {
        let limits = self.db.limits().await?;
        let input = input_of(self.flow, self.input, &limits)?;
        let id = self.id.unwrap_or_else(RunId::new);
        let compiled_for = Some(program(self.flow));
        let run = NewRun::new(self.flow.slug, input, id);
        Ok(NewRun { compiled_for, begins: self.begins, ..run })
    }

    async fn send(self) -> Result<Run<F>, ClientError> {
        let (db, slug, is_ours) = (self.db.clone(), self.flow.slug, self.id.is_none());
        let run = self.new_run().await?;
        let id = run.id;
        let started = unless_dropped(&db, move |backend| backend.start(run.clone())).await?;
        // The id was made here, so the run is that of our own first try.
        let is_new = is_ours || started == Started::Created;
        tracing::debug!(run.id = %id, flow = slug, is_new, "run started");
        Ok(Run::new(db, id, is_new))
    }
}

impl<'a, F: 'static> IntoFuture for Start<'a, F> {
    type Output = Result<Run<F>, ClientError>;
    type IntoFuture = Starting<'a, F>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}
