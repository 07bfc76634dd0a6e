//! Runs of flows that this program has no code for.

use std::time::Duration;

use pgflow_machine::{RunId, RunStatus};
use serde_json::Value;
use tokio::time::Instant;

use super::ClientError;
use super::check::payload_of;
use super::patience::{patiently, unless_dropped};
use super::run::ended;
use crate::backend::{NewRun, Parts, RunRecord, Started};
use crate::db::Db;

impl Db {
    /// A run of any flow, as the database has it.
    pub async fn record(&self, run: RunId, parts: Parts) -> Result<RunRecord, ClientError> {
        let record = patiently(self, move |backend| backend.run(run, parts)).await?;
        record.ok_or(ClientError::UnknownRun { run })
    }

    /// Starts a run of the newest version of the flow of this name, which this program need not have code for: with
    /// this id, or a new one. Whether it is new.
    ///
    /// ```
    /// # use pgflow::prelude::*;
    /// # #[flow(input = u8)] mod count { #[step] pub async fn one(run: u8) -> pgflow::Result<u8> { Ok(run) } }
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// # let db = pgflow::Db::connect("memory:").await?;
    /// # db.register(count::Flow).await?;
    /// let (id, is_new) = db.start_by_name("count", 7.into(), None).await?;
    /// assert!(is_new);
    /// assert_eq!(db.start_by_name("count", 7.into(), Some(id)).await?, (id, false));
    /// # Ok(()) })
    /// # }
    /// ```
    pub async fn start_by_name(
        &self,
        flow: &str,
        input: Value,
        id: Option<RunId>,
    ) -> Result<(RunId, bool), ClientError> {
        let input = payload_of(Ok(input), &self.limits().await?)?;
        let (is_ours, id) = (id.is_none(), id.unwrap_or_else(RunId::new));
        let run = NewRun::new(flow, input, id);
        let started = unless_dropped(self, move |backend| backend.start(run.clone())).await?;
        Ok((id, is_ours || started == Started::Created))
    }

    /// Waits until a run of any flow has ended, and says how; `None` if it goes on after this time.
    pub async fn wait(
        &self,
        run: RunId,
        timeout: Option<Duration>,
    ) -> Result<Option<RunStatus>, ClientError> {
        ended(self, run, timeout.and_then(|timeout| Instant::now().checked_add(timeout))).await
    }
}
