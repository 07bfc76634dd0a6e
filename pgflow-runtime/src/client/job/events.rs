//! What happens to a job, as it happens.

use std::time::Duration;

use super::JobHandle;
use crate::backend::{JobEvent, JobStanding};
use crate::client::events::Log;
use crate::client::{ClientError, Events};
use pgflow_backend::backoff::Backoff;

/// Pauses between two looks that found nothing.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

impl JobHandle {
    /// Everything that has happened and happens to it, in order, until it has ended: read as the events of a run are. What happens while
    /// traces are switched off is not among it.
    ///
    /// ```
    /// # use pgflow::prelude::*;
    /// # fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let db = Db::connect("memory:").await?;
    /// let job = db.submit_raw("human.review", serde_json::json!("case 7")).await?;
    /// job.cancel("not needed").await?;
    /// let mut events = job.events();
    /// while let Some(event) = events.next().await {
    ///     println!("{}", event?.kind);
    /// }
    /// # Ok(()) })
    /// # }
    /// ```
    pub fn events(&self) -> Events<JobEvent> {
        self.events_after(0)
    }

    /// The same, after the event of this number: where an earlier reader stopped.
    pub fn events_after(&self, number: u64) -> Events<JobEvent> {
        Events::of(
            Trace { job: self.clone(), pauses: Backoff::new(FIRST_PAUSE, LONGEST_PAUSE) },
            number,
        )
    }
}

/// The trace of a job.
struct Trace {
    job: JobHandle,
    pauses: Backoff,
}

impl Log for Trace {
    type Event = JobEvent;

    /// How the job stands is asked first, so that nothing of one that has ended is missed.
    async fn page(&mut self, after: u64) -> Result<Option<Vec<JobEvent>>, ClientError> {
        let has_ended = matches!(self.job.status().await?, JobStanding::Ended(_));
        let page = self.job.trace_after(after).await?;
        if page.is_empty() {
            return Ok((!has_ended).then_some(page));
        }
        self.pauses.reset();
        Ok(Some(page))
    }

    async fn changed(&mut self) {
        tokio::time::sleep(self.pauses.next()).await;
    }

    fn number(event: &JobEvent) -> u64 {
        event.number
    }
}
