//! What happens in a run, as it happens.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::stream::{Stream, StreamExt, unfold};
use pgflow_machine::{Event, Happened, RunId};

use super::patience::patiently;
use super::run::summary;
use super::watch::Watch;
use super::{ClientError, Run};
use crate::Flow;
use crate::db::Db;

/// How many events are read at once.
const PAGE: u32 = 256;

impl<F: Flow> Run<F> {
    /// Everything that happened and happens in the run, in order and without gaps, until it has ended.
    ///
    /// ```
    /// # use pgflow::prelude::*;
    /// # #[flow(input = u8)] mod count { #[step] pub async fn one(run: u8) -> pgflow::Result<u8> { Ok(run) } }
    /// # async fn example(run: pgflow::Run<count::Flow>) -> Result<(), pgflow::ClientError> {
    /// let mut events = run.events();
    /// while let Some(event) = events.next().await {
    ///     println!("{}", event?.what);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn events(&self) -> Events {
        self.events_after(0)
    }

    /// The same, after the event of this number: where an earlier reader stopped.
    pub fn events_after(&self, seq: u64) -> Events {
        self.db.events_of(self.id, seq)
    }
}

impl Db {
    /// Everything that happened and happens in a run of any flow, after the event of this number, until it has ended.
    pub fn events_of(&self, run: RunId, after: u64) -> Events {
        Events::of(unfold(Reader::new(self, run, after), |mut reader| async {
            let event = reader.next().await?;
            Some((event, reader))
        }))
    }
}

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
    /// What a reader reads, until there is no more.
    pub(super) fn of(events: impl Stream<Item = Result<T, ClientError>> + Send + 'static) -> Self {
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

/// Reads a run's log page by page.
struct Reader {
    db: Db,
    run: RunId,
    /// The last number that was read.
    cursor: u64,
    read: VecDeque<Event>,
    watch: Watch,
    /// The last thing said about the run as a whole is that it ended.
    has_ended: bool,
    /// Nothing more is to come.
    is_over: bool,
    /// What the log says about the run's end is known from here on.
    has_read: bool,
    flow: Option<String>,
}

impl Reader {
    fn new(db: &Db, run: RunId, cursor: u64) -> Self {
        let (db, watch) = (db.clone(), Watch::new(db));
        Self {
            db,
            run,
            cursor,
            read: VecDeque::new(),
            watch,
            has_ended: false,
            is_over: false,
            has_read: false,
            flow: None,
        }
    }

    async fn next(&mut self) -> Option<Result<Event, ClientError>> {
        loop {
            if let Some(event) = self.read.pop_front() {
                return Some(Ok(event));
            }
            if self.is_over {
                return None;
            }
            match self.page().await {
                Err(error) => {
                    self.is_over = matches!(error, ClientError::UnknownRun { .. });
                    return Some(Err(error));
                }
                Ok(true) => {}
                Ok(false) if self.has_ended => return None,
                Ok(false) => self.watch.changed(self.flow.as_deref(), None).await,
            }
        }
    }

    /// Reads what is new; whether there was something.
    async fn page(&mut self) -> Result<bool, ClientError> {
        let (run, cursor) = (self.run, self.cursor);
        let events = patiently(&self.db, move |backend| backend.events(run, cursor, PAGE)).await?;
        let Some(last) = events.last() else {
            self.look_at_the_run().await?;
            return Ok(false);
        };
        (self.cursor, self.has_read) = (last.seq, true);
        for event in &events {
            self.note(&event.what);
        }
        self.read.extend(events);
        Ok(true)
    }

    /// A failed run can be retried, so its end is only its end while nothing follows.
    fn note(&mut self, what: &Happened) {
        match what {
            Happened::RunStarted { .. } | Happened::RunRetried => self.has_ended = false,
            what if what.ends_the_run() => self.has_ended = true,
            _ => {}
        }
    }

    /// A reader that began after the last event, or after one that never comes, would otherwise wait for ever.
    async fn look_at_the_run(&mut self) -> Result<(), ClientError> {
        if self.has_read && self.flow.is_some() {
            return Ok(());
        }
        let run = self.run;
        let found = summary(&self.db, run).await?.ok_or(ClientError::UnknownRun { run })?;
        self.has_ended |= found.status.has_ended() && self.is_at_the_end().await?;
        self.flow = Some(found.flow);
        Ok(())
    }

    async fn is_at_the_end(&self) -> Result<bool, ClientError> {
        let (run, cursor) = (self.run, self.cursor);
        let next = patiently(&self.db, move |backend| backend.events(run, cursor, 1)).await?;
        Ok(next.is_empty())
    }
}
