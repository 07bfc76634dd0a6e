//! What a claim would have to get besides the job, and cannot have now.

use pgflow_machine::Timestamp;
use pgflow_machine::permit::Stage;

use super::JobReason;
use crate::backend::BackendError;
use crate::client::ClientError;
use crate::db::Db;

impl Db {
    /// What claims of a need take, as far as that is known.
    pub(in crate::client) async fn stage_of(&self, need: &str) -> Result<Stage, ClientError> {
        match self.stages().await {
            Ok(mut stages) => Ok(stages.remove(need).unwrap_or_default()),
            // A database that keeps no queues has no permits either.
            Err(ClientError::Backend(BackendError::Unsupported { .. })) => Ok(Stage::default()),
            Err(error) => Err(error),
        }
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
