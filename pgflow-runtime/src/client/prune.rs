//! Deleting what is old.

use std::time::Duration;

use super::ClientError;
use super::batches::in_batches;
use super::patience::patiently;
use crate::backend::{Backend, BackendError, Reply};
use crate::db::Db;

impl Db {
    /// Deletes runs that ended longer ago than this, with everything of theirs, and says how many. Runs that go
    /// on are left alone, however old they are. It deletes a hundred at a time, each in a transaction of its own, and fewer if that takes
    /// the database too long.
    ///
    /// A worker can do this by itself: [`Worker::retain`](crate::Worker::retain).
    ///
    /// ```
    /// # use pgflow::prelude::*;
    /// # #[flow(input = u8)] mod count { #[step] pub async fn one(run: u8) -> pgflow::Result<u8> { Ok(run) } }
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// # let db = pgflow::Db::connect("memory:").await?;
    /// # db.register(count::Flow).await?;
    /// use std::time::Duration;
    ///
    /// let (ended, open) = (db.start(count::Flow, &1).await?, db.start(count::Flow, &2).await?);
    /// ended.cancel(None).await?;
    /// assert_eq!(db.prune(Duration::from_hours(24)).await?, 0);
    /// assert_eq!(db.prune(Duration::ZERO).await?, 1);
    /// assert!(db.get::<count::Flow>(open.id()).await?.is_some());
    /// # Ok(()) })
    /// # }
    /// ```
    pub async fn prune(&self, older_than: Duration) -> Result<u64, ClientError> {
        let prune = |most| async move {
            patiently(self, move |backend| prune_once(backend, older_than, most)).await?
        };
        Ok(in_batches(Duration::ZERO, prune).await?)
    }
}

/// No answer is an answer: the same again would take as long.
fn prune_once(
    backend: &dyn Backend,
    older_than: Duration,
    most: u32,
) -> Reply<'_, Result<u64, BackendError>> {
    Box::pin(async move {
        match backend.prune(older_than, most).await {
            Err(error) if error.is_no_answer() => Ok(Err(error)),
            answer => answer.map(Ok),
        }
    })
}
