//! Reading a stream page by page, then as it grows.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::log::{End, StreamKey};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use super::cursor::{Cursor, News};
use super::feed::{self, FALLBACK, Feed, Patience};
use super::{Emitted, Item};
use crate::backend::{Backend, PageSize, Reply, StreamPage, Wakes};
use crate::client::ClientError;
use crate::client::patience::patiently;
use crate::client::run::{renamed_in, summary};
use crate::db::Db;
use crate::{DataError, FlowDef};

/// A reader of a stream.
pub(super) struct Reader {
    db: Db,
    stream: StreamKey,
    /// Whose names its step goes by, until it is known which version the run is of.
    flow: Option<&'static FlowDef>,
    cursor: Cursor,
    news: VecDeque<News>,
    growth: Option<Growth>,
    is_over: bool,
    patience: Patience,
    /// For a hint, if it is alone.
    waits: Duration,
}

/// How a reader learns that there is more.
enum Growth {
    /// By what all readers in the process share.
    Shared(Arc<Feed>, watch::Receiver<u64>),
    /// By itself.
    Alone(Wakes, Instant),
}

impl Reader {
    pub(super) fn new(
        db: Db,
        stream: StreamKey,
        cursor: Cursor,
        flow: Option<&'static FlowDef>,
    ) -> Self {
        Self {
            db,
            stream,
            flow,
            cursor,
            news: VecDeque::new(),
            growth: None,
            is_over: false,
            patience: Patience::default(),
            waits: FALLBACK,
        }
    }

    /// The next item. After an error of the database it can be asked again, and goes on where it was.
    pub(super) async fn next<T>(
        &mut self,
        read: fn(Vec<u8>) -> Result<T, DataError>,
    ) -> Option<Item<T>> {
        loop {
            match self.news.pop_front() {
                Some(News::Chunk(chunk)) => {
                    let number = chunk.number;
                    let value = read(chunk.data).map_err(ClientError::from);
                    return Some(value.map(|value| Emitted::Chunk { number, value }));
                }
                Some(News::Restarted(attempt)) => return Some(Ok(Emitted::Restarted { attempt })),
                Some(News::Ended(end)) => {
                    self.is_over = true;
                    return self.ended(&end).map(Err);
                }
                None if self.is_over => return None,
                None => {}
            }
            if let Err(error) = self.look().await {
                self.is_over = matches!(error, ClientError::UnknownRun { .. });
                return Some(Err(error));
            }
        }
    }

    fn ended(&self, end: &End) -> Option<ClientError> {
        let reason = end.why()?.to_owned();
        Some(ClientError::StreamFailed { stream: self.stream.clone(), reason })
    }

    /// Looks once, and waits if there is nothing new.
    async fn look(&mut self) -> Result<(), ClientError> {
        self.name_step().await?;
        // Listening begins before the first look, so that no hint after it is missed.
        let growth = match self.growth.take() {
            Some(growth) => growth,
            None => self.listen(),
        };
        let growth = self.growth.insert(growth);
        let at = self.cursor.at();
        let shared = match (&mut *growth, at) {
            (Growth::Shared(feed, looks), Some(at)) => {
                looks.mark_unchanged();
                feed.page(at).filter(|page| self.cursor.is_of(page))
            }
            _ => None,
        };
        let (page, is_shared) = match shared {
            Some(page) => (page, true),
            None => (self.page(at).await?, false),
        };
        let is_known = at.is_some();
        self.waits = self.patience.with(Some(&page));
        self.news.extend(self.cursor.take(page));
        // What it does not know from others it may be behind with.
        if self.news.is_empty() && is_known && (is_shared || self.is_alone()) {
            self.wait().await;
        } else if self.news.is_empty() && is_known {
            self.wait_for_feed().await;
        }
        Ok(())
    }

    fn is_alone(&self) -> bool {
        matches!(self.growth, Some(Growth::Alone(..)))
    }

    fn listen(&self) -> Growth {
        let backend = self.db.backend();
        // What is in memory costs nothing to look at, and may be used without a runtime that could run a task.
        if !backend.abilities().holds_connections {
            return Growth::Alone(backend.wakes(), Instant::now());
        }
        let feed = self.db.hub().feed(backend, &self.stream);
        let looks = feed.looks();
        Growth::Shared(feed, looks)
    }

    /// Reads for itself.
    async fn page(&self, at: Option<u64>) -> Result<StreamPage, ClientError> {
        let stream = self.stream.clone();
        let size = if at.is_some() { PageSize::default() } else { PageSize::NOTHING };
        let from = at.unwrap_or_default();
        let page = patiently(&self.db, move |db| page(db, stream.clone(), from, size)).await?;
        page.ok_or_else(|| self.unknown())
    }

    fn unknown(&self) -> ClientError {
        match &self.stream {
            StreamKey::Task(task) => ClientError::UnknownRun { run: task.run },
            StreamKey::Named(_) => ClientError::StreamFailed {
                stream: self.stream.clone(),
                reason: "it is not there".to_owned(),
            },
        }
    }

    async fn wait(&mut self) {
        match &mut self.growth {
            Some(Growth::Shared(feed, looks)) if feed.is_live() => {
                // The feed itself looks once in a while.
                let _ = timeout(FALLBACK * 2, looks.changed()).await;
            }
            Some(Growth::Alone(wakes, looked)) => {
                feed::changed(wakes, &self.stream, *looked, *looked + self.waits).await;
                *looked = Instant::now();
            }
            // One that has ended is not looked at again: whoever comes now begins another.
            growth => *growth = None,
        }
    }

    /// What was read is newer than what the feed has, or the feed has not looked yet.
    async fn wait_for_feed(&mut self) {
        match &mut self.growth {
            Some(Growth::Shared(feed, looks)) if feed.is_live() => {
                let _ = timeout(FALLBACK, looks.changed()).await;
            }
            growth => *growth = None,
        }
    }

    /// A run of an earlier version may have another name for the step.
    async fn name_step(&mut self) -> Result<(), ClientError> {
        let (Some(flow), StreamKey::Task(task)) = (self.flow, &mut self.stream) else {
            return Ok(());
        };
        let run = task.run;
        let found = summary(&self.db, run).await?.ok_or(ClientError::UnknownRun { run })?;
        let step = renamed_in(flow, &found.flow, &task.step, |(old, new)| (new, old)).to_owned();
        task.step = step;
        self.flow = None;
        Ok(())
    }
}

fn page(
    backend: &dyn Backend,
    stream: StreamKey,
    from: u64,
    size: PageSize,
) -> Reply<'_, Option<StreamPage>> {
    Box::pin(async move { backend.streams()?.read_stream(&stream, from, size).await })
}
