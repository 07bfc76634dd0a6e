//! Reads what happens, as it happens, of whatever keeps a log.

mod run;

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::stream::{Stream, StreamExt, unfold};
use pgflow_machine::Event;

use super::ClientError;

/// Events of a run, or of a job (`Events<JobEvent>`), as a [`Stream`]. After an error it can be asked again, and goes on where it was;
/// only if there is no such run or job, it ends.
///
/// ```
/// # use pgflow::prelude::*;
/// # #[flow(input = u8)] mod count { #[step] pub async fn one(run: u8) -> pgflow::Result<u8> { Ok(run) } }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// # let db = pgflow::Db::connect("memory:").await?;
/// # db.register(count::Flow).await?;
/// let run = db.start(count::Flow, &7).await?;
/// let mut events: pgflow::client::Events = run.events();
/// let first = events.next().await.expect("a run begins")?;
/// assert_eq!(first.what.to_string(), "run:started");
/// # Ok(()) })
/// # }
/// ```
pub struct Events<T = Event>(Pin<Box<dyn Stream<Item = Result<T, ClientError>> + Send>>);

impl<T> Events<T> {
    /// What this log has after the event of this number, until there is no more.
    pub(super) fn of(log: impl Log<Event = T>, after: u64) -> Self
    where
        T: Send + 'static,
    {
        let reader = Reader { log, cursor: after, read: VecDeque::new(), is_over: false };
        let events = unfold(reader, |mut reader| async {
            let event = reader.next().await?;
            Some((event, reader))
        });
        Self(Box::pin(events.fuse()))
    }

    /// The next event; `None` after the last one of a run or job that has ended.
    pub async fn next(&mut self) -> Option<Result<T, ClientError>> {
        StreamExt::next(self).await
    }
}

impl<T> Stream for Events<T> {
    type Item = Result<T, ClientError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.as_mut().poll_next(context)
    }
}

impl<T> fmt::Debug for Events<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Events")
    }
}

/// What is read page by page: the log of a run, or the trace of a job.
pub(super) trait Log: Send + 'static {
    type Event: Send + 'static;

    /// What there is after the event of this number: empty if nothing is there yet, `None` if nothing more is to come.
    fn page(
        &mut self,
        after: u64,
    ) -> impl Future<Output = Result<Option<Vec<Self::Event>>, ClientError>> + Send;

    /// Ready when it is worth looking again, after a page that was empty.
    fn changed(&mut self) -> impl Future<Output = ()> + Send;

    fn number(event: &Self::Event) -> u64;
}

struct Reader<L: Log> {
    log: L,
    /// The last number that was read.
    cursor: u64,
    read: VecDeque<L::Event>,
    /// Nothing more is to come.
    is_over: bool,
}

impl<L: Log> Reader<L> {
    async fn next(&mut self) -> Option<Result<L::Event, ClientError>> {
        loop {
            if let Some(event) = self.read.pop_front() {
                return Some(Ok(event));
            }
            if self.is_over {
                return None;
            }
            match self.log.page(self.cursor).await {
                Err(error) => {
                    self.is_over = is_about_nothing(&error);
                    return Some(Err(error));
                }
                Ok(None) => self.is_over = true,
                Ok(Some(page)) => match page.last() {
                    None => self.log.changed().await,
                    Some(last) => {
                        self.cursor = L::number(last);
                        self.read.extend(page);
                    }
                },
            }
        }
    }
}

/// Whether there is no such run or job, so that asking again is of no use.
fn is_about_nothing(error: &ClientError) -> bool {
    matches!(error, ClientError::UnknownRun { .. } | ClientError::UnknownJob { .. })
}
