//! Lists of runs, page by page.

use super::ClientError;
use super::patience::patiently;
use crate::backend::{Backend, Reply, RunQuery, RunSummary};
use crate::db::Db;

/// A page of a list of runs.
///
/// ```
/// # use pgflow::prelude::*;
/// # #[flow(input = u8)] mod count { #[step] pub async fn one(run: u8) -> pgflow::Result<u8> { Ok(run) } }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// # let db = pgflow::Db::connect("memory:").await?;
/// # db.register(count::Flow).await?;
/// db.start(count::Flow, &7).await?;
/// let page: pgflow::client::RunPage = db.list(&pgflow::client::RunQuery::default()).await?;
/// assert_eq!((page.runs.len(), page.next), (1, None));
/// # Ok(()) })
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RunPage {
    /// Its runs, the newest first.
    pub runs: Vec<RunSummary>,
    /// Asks for the page after this one; `None` if this is the last.
    pub next: Option<RunQuery>,
}

impl Db {
    /// Runs, the newest first.
    ///
    /// ```
    /// # async fn example(db: pgflow::Db) -> Result<(), pgflow::ClientError> {
    /// use pgflow::{RunStatus, client::RunQuery};
    ///
    /// let mut query = Some(RunQuery { statuses: vec![RunStatus::Failed], ..RunQuery::default() });
    /// while let Some(asked) = query {
    ///     let page = db.list(&asked).await?;
    ///     for run in page.runs {
    ///         println!("{} {}", run.id, run.flow);
    ///     }
    ///     query = page.next;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn list(&self, query: &RunQuery) -> Result<RunPage, ClientError> {
        let asked = query.clone();
        let runs = patiently(self, move |backend| list(backend, asked.clone())).await?;
        let is_full = runs.len() >= query.max as usize;
        let last = runs.last().filter(|_| is_full).map(|run| (run.started_at, run.id));
        let next = last.map(|last| RunQuery { after: Some(last), ..query.clone() });
        Ok(RunPage { runs, next })
    }
}

fn list(backend: &dyn Backend, query: RunQuery) -> Reply<'_, Vec<RunSummary>> {
    Box::pin(async move { backend.list(&query).await })
}
