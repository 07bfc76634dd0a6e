//! What a claim would have to get besides the job, and cannot have now.

use std::collections::BTreeMap;

use pgflow_machine::Timestamp;
use pgflow_machine::permit::{PermitKey, Stage};

use super::JobReason;
use crate::backend::BackendError;
use crate::client::ClientError;
use crate::db::Db;

impl Db {
    /// What claims of a need take, as far as that is known.
    pub(in crate::client) async fn stage_of(&self, need: &str) -> Result<Stage, ClientError> {
        Ok(self.known_stages().await?.remove(need).unwrap_or_default())
    }

    async fn known_stages(&self) -> Result<BTreeMap<String, Stage>, ClientError> {
        match self.stages().await {
            // A database that keeps no queues has no permits either.
            Err(ClientError::Backend(BackendError::Unsupported { .. })) => Ok(BTreeMap::new()),
            stages => stages,
        }
    }

    /// The steps of a version of a flow whose attempts take a rate or a resource, with the first of these that cannot be had now.
    ///
    /// ```
    /// # fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let db = pgflow::Db::connect("memory:").await?;
    /// assert!(db.why_steps("order").await?.is_empty(), "no worker has started");
    /// # Ok(()) })
    /// # }
    /// ```
    pub async fn why_steps(
        &self,
        flow: &str,
    ) -> Result<BTreeMap<String, Option<JobReason>>, ClientError> {
        let (now, prefix) = (self.now().await?, PermitKey::step(flow, "").name);
        let mut steps = BTreeMap::new();
        for (name, stage) in self.known_stages().await? {
            let is_limited = !stage.rates.is_empty() || !stage.resources.is_empty();
            if let Some(step) = name.strip_prefix(&prefix).filter(|_| is_limited) {
                steps.insert(step.to_owned(), self.why_no_permit(&stage, now).await?);
            }
        }
        Ok(steps)
    }

    /// The first permit that cannot be had now, if there is one.
    pub(in crate::client) async fn why_no_permit(
        &self,
        stage: &Stage,
        now: Timestamp,
    ) -> Result<Option<JobReason>, ClientError> {
        if let Some(reason) = self.why_no_token(stage, now).await? {
            return Ok(Some(reason));
        }
        self.why_no_room(stage).await
    }

    async fn why_no_token(
        &self,
        stage: &Stage,
        now: Timestamp,
    ) -> Result<Option<JobReason>, ClientError> {
        if stage.rates.is_empty() {
            return Ok(None);
        }
        let buckets = self.rates().await?;
        let used_up = |slug: &String| {
            let bucket = buckets.get(slug).filter(|bucket| bucket.available(now) == 0)?;
            Some(JobReason::Rate { rate: slug.clone(), until: bucket.next_at(now) })
        };
        Ok(stage.rates.iter().find_map(used_up))
    }

    async fn why_no_room(&self, stage: &Stage) -> Result<Option<JobReason>, ClientError> {
        if stage.resources.is_empty() {
            return Ok(None);
        }
        let all = self.resources().await?;
        let full = |(slug, units): (&String, &u32)| {
            let (resource, held) = all.get(slug)?;
            let (capacity, held, units) = (resource.capacity, *held, *units);
            let is_full = held.saturating_add(units) > capacity;
            is_full.then(|| JobReason::Resource { resource: slug.clone(), units, held, capacity })
        };
        Ok(stage.resources.iter().find_map(full))
    }
}
