//! What happens to a job, as it happens.

use std::collections::VecDeque;
use std::time::Duration;

use futures_util::stream::unfold;

use super::JobHandle;
use crate::backend::{JobEvent, JobStanding};
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
        let reader = Reader {
            job: self.clone(),
            cursor: number,
            read: VecDeque::new(),
            pauses: Backoff::new(FIRST_PAUSE, LONGEST_PAUSE),
            is_over: false,
        };
        Events::of(unfold(reader, |mut reader| async {
            let event = reader.next().await?;
            Some((event, reader))
        }))
    }
}

/// Reads a job's trace page by page.
struct Reader {
    job: JobHandle,
    /// The last number that was read.
    cursor: u64,
    read: VecDeque<JobEvent>,
    pauses: Backoff,
    /// Nothing more is to come.
    is_over: bool,
}

impl Reader {
    async fn next(&mut self) -> Option<Result<JobEvent, ClientError>> {
        loop {
            if let Some(event) = self.read.pop_front() {
                return Some(Ok(event));
            }
            if self.is_over {
                return None;
            }
            match self.page().await {
                Err(error) => {
                    self.is_over = matches!(error, ClientError::UnknownJob { .. });
                    return Some(Err(error));
                }
                Ok(()) if self.read.is_empty() && !self.is_over => {
                    tokio::time::sleep(self.pauses.next()).await;
                }
                Ok(()) => self.pauses.reset(),
            }
        }
    }

    /// Reads what is new. How the job stands is asked first, so that nothing of one that has ended is missed.
    async fn page(&mut self) -> Result<(), ClientError> {
        let has_ended = matches!(self.job.status().await?, JobStanding::Ended(_));
        let page = self.job.trace_after(self.cursor).await?;
        self.cursor = page.last().map_or(self.cursor, |event| event.number);
        self.is_over = has_ended && page.is_empty();
        self.read.extend(page);
        Ok(())
    }
}
