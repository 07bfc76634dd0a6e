//! What waits.

use std::time::Duration;

use pgflow_machine::{RunId, RunStatus};

use crate::Flow;
use crate::backend::{Backend, LateWaits, Reply, RunRecord, WaitQuery, WaitRecord, WaitingFor};
use crate::client::patience::patiently;
use crate::client::{ClientError, Run};
use crate::db::Db;

/// Waits that one call reads.
const PAGE: u32 = 500;

impl Db {
    /// Tasks that wait, the oldest first: for an answer, a moment, runs or jobs.
    ///
    /// ```
    /// # use pgflow::prelude::*;
    /// # fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// # let db = Db::connect("memory:").await?;
    /// let waits = db.waits(&pgflow::wait::WaitQuery::default()).await?;
    /// assert!(waits.is_empty());
    /// # Ok(()) })
    /// # }
    /// ```
    pub async fn waits(&self, query: &WaitQuery) -> Result<Vec<WaitRecord>, ClientError> {
        let query = query.clone();
        Ok(patiently(self, move |backend| listed(backend, query.clone())).await?)
    }

    /// Tasks that should have stopped waiting longer ago than this, and have not: up to `max` of them are counted. Any worker lets
    /// them go on.
    ///
    /// ```
    /// # use pgflow::prelude::*;
    /// # use std::time::Duration;
    /// # fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// # let db = Db::connect("memory:").await?;
    /// let late = db.late_waits(Duration::from_mins(5), 1_000).await?;
    /// assert_eq!((late.waits, late.longest), (0, None));
    /// # Ok(()) })
    /// # }
    /// ```
    pub async fn late_waits(&self, by: Duration, max: u32) -> Result<LateWaits, ClientError> {
        Ok(patiently(self, move |backend| late(backend, by, max)).await?)
    }

    /// All that wait in a run; nothing is asked of one that has ended, or of a database whose tasks cannot wait.
    pub(crate) async fn open_waits(&self, run: &RunRecord) -> Result<Vec<WaitRecord>, ClientError> {
        if run.status != RunStatus::Started || self.backend().waits().is_err() {
            return Ok(Vec::new());
        }
        self.waits_of(run.id).await
    }

    /// All that wait in a run.
    pub(crate) async fn waits_of(&self, run: RunId) -> Result<Vec<WaitRecord>, ClientError> {
        let mut all: Vec<WaitRecord> = Vec::new();
        loop {
            let after = all.last().map(|last| (last.since, last.task.clone()));
            let page = WaitQuery { run: Some(run), after, max: PAGE, ..WaitQuery::default() };
            let page = self.waits(&page).await?;
            let is_last = page.len() < PAGE as usize;
            all.extend(page);
            if is_last {
                return Ok(all);
            }
        }
    }
}

impl<F: Flow> Run<F> {
    /// Its tasks that wait, the oldest first: for an answer, a moment, runs or jobs.
    pub async fn waits(&self) -> Result<Vec<WaitRecord>, ClientError> {
        self.db.waits_of(self.id).await
    }

    /// Its tasks that wait for an answer, with their tokens.
    pub async fn hooks(&self) -> Result<Vec<WaitRecord>, ClientError> {
        let mut waits = self.waits().await?;
        waits.retain(|wait| matches!(wait.on, WaitingFor::Hook { .. }));
        Ok(waits)
    }
}

fn late(backend: &dyn Backend, by: Duration, max: u32) -> Reply<'_, LateWaits> {
    Box::pin(async move { backend.waits()?.late_waits(by, max).await })
}

fn listed(backend: &dyn Backend, query: WaitQuery) -> Reply<'_, Vec<WaitRecord>> {
    Box::pin(async move { backend.waits()?.list_waits(&query).await })
}
