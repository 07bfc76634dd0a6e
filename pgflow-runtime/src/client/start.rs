//! Starting runs.

use std::future::IntoFuture;
use std::pin::Pin;

use pgflow_machine::RunId;

use super::check::input_of;
use super::patience::patiently;
use super::{ClientError, Run};
use crate::backend::{NewRun, Started};
use crate::db::Db;
use crate::{DataError, Flow, StartIn, StartRun};

impl Db {
    /// A run of this flow, to be started by `.await`. Its input is checked before anything is written.
    ///
    /// ```
    /// # use pgflow::prelude::*;
    /// # #[flow(input = u8)] mod count { #[step] pub async fn one(run: u8) -> pgflow::Result<u8> { Ok(run) } }
    /// # async fn example(db: pgflow::Db) -> Result<(), pgflow::ClientError> {
    /// let run = db.start(count::Flow, &7).await?;
    /// let again = db.start(count::Flow, &7).key("order 7").await?; // at most one run of this key
    /// # Ok(())
    /// # }
    /// ```
    pub fn start<F: Flow>(&self, _flow: F, input: &F::Input) -> Start<'_, F> {
        Start { db: self, input: F::start(input), id: None }
    }

    /// A run that exists if and only if the caller's transaction commits. `tx` is a transaction of `sqlx`, a
    /// connection with one open, or the [`Tx`](crate::Tx) of a step, on the same database.
    pub async fn start_in<F: Flow>(
        &self,
        tx: &mut (impl StartIn + Send + ?Sized),
        flow: F,
        input: &F::Input,
    ) -> Result<Run<F>, ClientError> {
        // Made here, so that the future does not hold the input.
        self.start(flow, input).within(tx).await
    }

    /// Like [`start`](Self::start), with an input that is JSON: it must have the form of the flow's input.
    pub fn start_json<F: Flow>(&self, _flow: F, input: serde_json::Value) -> Start<'_, F> {
        Start { db: self, input: StartRun::from_json(input), id: None }
    }
}

/// A run that starts when this is awaited.
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
pub struct Start<'a, F: Flow> {
    db: &'a Db,
    input: Result<StartRun<F>, DataError>,
    id: Option<RunId>,
}

impl<F: Flow> Start<'_, F> {
    /// With this id. If there is a run of this id, that one is returned, and keeps its own input.
    pub fn id(self, id: RunId) -> Self {
        Self { id: Some(id), ..self }
    }

    /// With the id that this key of your application stands for: there is at most one run of the flow per key,
    /// however often it is started.
    pub fn key(self, key: &str) -> Self {
        self.id(RunId::from_key(F::SLUG, key))
    }

    /// Starts it in a transaction: see [`Db::start_in`]. Workers may take a second to notice it.
    pub async fn within(
        self,
        tx: &mut (impl StartIn + Send + ?Sized),
    ) -> Result<Run<F>, ClientError> {
        let db = self.db.clone();
        let run = self.new_run().await?;
        let id = run.id;
        let started = tx.start_run(run).await?;
        Ok(Run::new(db, id, started == Started::Created))
    }

    async fn new_run(self) -> Result<NewRun, ClientError> {
        let limits = self.db.limits().await?;
        let input = input_of(self.input, &limits)?;
        let id = self.id.unwrap_or_else(RunId::new);
        Ok(NewRun { flow: F::SLUG.to_owned(), input, id })
    }

    async fn send(self) -> Result<Run<F>, ClientError> {
        let (db, is_ours) = (self.db.clone(), self.id.is_none());
        let run = self.new_run().await?;
        let id = run.id;
        let started = patiently(&db, move |backend| backend.start(run.clone())).await?;
        // Nobody else can have an id that was made here: it was our own first try that got through.
        let is_new = is_ours || started == Started::Created;
        tracing::debug!(run.id = %id, flow = F::SLUG, is_new, "run started");
        Ok(Run::new(db, id, is_new))
    }
}

impl<'a, F: Flow> IntoFuture for Start<'a, F> {
    type Output = Result<Run<F>, ClientError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}
