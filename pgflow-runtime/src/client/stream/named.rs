//! Streams of their own, by name.

use std::collections::VecDeque;
use std::pin::Pin;
use std::time::Duration;

use pgflow_machine::Limits;
use pgflow_machine::log::{
    Append, Appended, CHUNKS_AT_ONCE, CloseStream, Closed, End, LASTS, StreamKey, StreamProblem,
    Writer,
};

use super::{Chunks, bytes, json};
use crate::backend::{Backend, Reply};
use crate::check::{Lasts, Reads, Writes};
use crate::client::patience::patiently;
use crate::client::{BATCH, ClientError};
use crate::db::Db;

impl Db {
    /// The stream of this name, which need not be there yet. Any number of programs may write and read it.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// # let db = pgflow::Db::connect("memory:").await?;
    /// let logs = db.stream("logs/42")?;
    /// let mut writer = logs.writer();
    /// writer.send(&"started").await?;
    /// logs.close().await?;
    ///
    /// let mut lines = logs.read::<String>();
    /// let first = lines.next().await.expect("a line")?;
    /// assert_eq!(first.value().as_deref(), Some("started"));
    /// assert!(lines.next().await.is_none());
    /// # Ok(()) })
    /// # }
    /// ```
    pub fn stream(&self, name: &str) -> Result<NamedStream, ClientError> {
        let stream = StreamKey::named(name)?;
        Ok(NamedStream { db: self.clone(), stream, lasts: LASTS })
    }
}

impl Db {
    /// Deletes named streams whose time is over, and says how many. Workers do that once in an hour.
    pub async fn prune_streams(&self) -> Result<u64, ClientError> {
        let mut pruned = 0;
        loop {
            let batch = patiently(self, prune).await?;
            pruned += batch;
            if batch < u64::from(BATCH) {
                return Ok(pruned);
            }
        }
    }
}

fn prune(backend: &dyn Backend) -> Reply<'_, u64> {
    Box::pin(async move { backend.streams()?.prune_streams(BATCH).await })
}

/// A stream of its own: [`Db::stream`].
#[derive(Clone, Debug)]
pub struct NamedStream {
    db: Db,
    stream: StreamKey,
    lasts: Duration,
}

impl NamedStream {
    /// It is kept for so long after it was last written through this; a week if nothing is said.
    #[must_use]
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn lasting<D>(self, lasts: D) -> Self where Self: Lasts<D> {
        let lasts = <Self as Lasts<D>>::time(lasts);
        Self { lasts, ..self }
    }

    /// What was and is said, as JSON of this type.
    pub fn read<T>(&self) -> Chunks<<Self as Reads<T>>::Read>
    where
        Self: Reads<T>,
    {
        Chunks::new(&self.db, self.stream.clone(), json, None)
    }

    /// What was and is said, as it is.
    pub fn read_bytes(&self) -> Chunks<Vec<u8>> {
        Chunks::new(&self.db, self.stream.clone(), bytes, None)
    }

    /// A writer of it.
    pub fn writer(&self) -> StreamWriter {
        let Self { db, stream, lasts } = self.clone();
        StreamWriter { db, stream, lasts, writer: Writer::new(), sent: 0, unsent: VecDeque::new() }
    }

    /// Ends it: nothing can be appended after that. Ending it twice is fine.
    pub async fn close(&self) -> Result<(), ClientError> {
        self.end(End::Eof).await
    }

    /// Ends it with an error, which is the last that its readers get.
    pub async fn fail(&self, why: &str) -> Result<(), ClientError> {
        self.end(End::error(why)).await
    }

    async fn end(&self, end: End) -> Result<(), ClientError> {
        let (stream, lasts) = (self.stream.clone(), self.lasts);
        let close = patiently(&self.db, move |db| close(db, stream.clone(), end.clone(), lasts));
        close.await?.map(drop).map_err(|source| refused(&self.stream, source))
    }
}

fn close(
    backend: &dyn Backend,
    stream: StreamKey,
    end: End,
    lasts: Duration,
) -> Reply<'_, Result<Closed, StreamProblem>> {
    Box::pin(async move {
        let close = CloseStream { lasts, ..CloseStream::new(&stream, Writer::new(), &end) };
        backend.streams()?.close_stream(&close).await
    })
}

fn refused(stream: &StreamKey, source: StreamProblem) -> ClientError {
    ClientError::Stream { stream: stream.clone(), source }
}

type Sending<'a> = Pin<Box<dyn Future<Output = Result<(), ClientError>> + Send + 'a>>;

/// Writes a stream of its own: [`NamedStream::writer`]. What it sends stays in its order.
#[derive(Debug)]
pub struct StreamWriter {
    db: Db,
    stream: StreamKey,
    lasts: Duration,
    writer: Writer,
    sent: u64,
    /// What may or may not be there, by calls: it is sent again, by the same numbers, so that it is there once.
    unsent: VecDeque<Vec<Vec<u8>>>,
}

impl StreamWriter {
    /// Appends a value as JSON.
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn send<T: ?Sized>(&mut self, value: &T) -> Sending<'_> where Self: Writes<T> {
        let chunk = <Self as Writes<T>>::chunk(value);
        Box::pin(async move { self.send_bytes([chunk?]).await })
    }

    /// Appends chunks, all of them in one transaction. If it fails because the database does not answer, or is dropped, the chunks
    /// come with what is sent next. What is refused does not, and what comes next is tried by itself.
    pub async fn send_bytes(
        &mut self,
        chunks: impl IntoIterator<Item = Vec<u8>>,
    ) -> Result<(), ClientError> {
        let limits = self.db.limits().await?;
        let chunks: Vec<_> = chunks.into_iter().collect();
        let append = Append::new(&self.stream, self.writer.clone(), self.sent, &chunks, limits);
        append.check().map_err(|problem| refused(&self.stream, problem))?;
        self.unsent.push_back(chunks);
        while !self.unsent.is_empty() {
            self.send_portion(limits).await?;
        }
        Ok(())
    }

    /// Sends what came first of what is unsent: as many calls as can be appended at once.
    async fn send_portion(&mut self, limits: Limits) -> Result<(), ClientError> {
        let calls = portion(&self.unsent, limits.max_bytes);
        let chunks: Vec<_> = self.unsent.iter().take(calls).flatten().cloned().collect();
        let many = chunks.len() as u64;
        let call = Call {
            stream: self.stream.clone(),
            writer: self.writer.clone(),
            first: self.sent,
            chunks,
            lasts: self.lasts,
            limits,
        };
        match patiently(&self.db, move |db| call.clone().append(db)).await {
            Ok(Ok(_)) => {
                self.sent += many;
                self.unsent.drain(..calls);
                Ok(())
            }
            // The stream was deleted with all that this has sent: what comes now is the beginning of another one.
            Ok(Err(StreamProblem::Gap { expected: 0, .. })) => {
                self.sent = 0;
                Ok(())
            }
            Ok(Err(problem)) => {
                self.give_up();
                Err(refused(&self.stream, problem))
            }
            Err(error) => {
                if !error.is_temporary() {
                    self.give_up();
                }
                Err(error.into())
            }
        }
    }

    /// Forgets what is refused, which would be refused again with all that comes after it. An earlier try may have written some of
    /// it without an answer, so what comes now has a writer of its own: it must not be taken for that.
    fn give_up(&mut self) {
        self.unsent.clear();
        (self.writer, self.sent) = (Writer::new(), 0);
    }
}

/// How many of these calls, one at least, can be appended at once.
fn portion(calls: &VecDeque<Vec<Vec<u8>>>, most_bytes: usize) -> usize {
    let (mut chunks, mut bytes) = (0, 0);
    let fits = |call: &&Vec<Vec<u8>>| {
        chunks += call.len();
        bytes += call.iter().map(Vec::len).sum::<usize>();
        chunks <= CHUNKS_AT_ONCE && bytes <= most_bytes
    };
    calls.iter().take_while(fits).count().max(1)
}

/// An append that owns all it needs.
#[derive(Clone)]
struct Call {
    stream: StreamKey,
    writer: Writer,
    first: u64,
    chunks: Vec<Vec<u8>>,
    lasts: Duration,
    limits: Limits,
}

impl Call {
    fn append(self, backend: &dyn Backend) -> Reply<'_, Result<Appended, StreamProblem>> {
        Box::pin(async move {
            let Self { stream, writer, first, chunks, lasts, limits } = &self;
            let append = Append {
                lasts: *lasts,
                ..Append::new(stream, writer.clone(), *first, chunks, *limits)
            };
            backend.streams()?.append(&append).await
        })
    }
}
