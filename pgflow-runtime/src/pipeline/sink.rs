//! Back-pressure for producers.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_util::Sink;
use pgflow_machine::job::JobId;
use pgflow_machine::permit::Message;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Queue;
use super::code::BoxFuture;
use super::queue::{Bundle, send};
use crate::Db;
use crate::client::ClientError;

/// Between two looks at a queue that is too deep.
const LOOK: Duration = Duration::from_millis(100);

/// Pushes messages, and waits while the queue is too deep: a [`Sink`], for streams that are to be forwarded, and
/// [`send`](Self::send) for messages one by one.
///
/// What a sink was given is gathered, and pushed when it is flushed, or when 500 messages or 8 MB wait. After an error of the
/// database it still has what was not pushed, and pushes it when it is flushed again; what a message itself is refused for is an
/// error once, after the others were pushed.
///
/// ```
/// use futures_util::{StreamExt, stream};
/// use pgflow::pipeline::Queue;
///
/// # fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let db = pgflow::Db::connect("memory:").await?;
/// let mut sink = Queue::<u32>::named("numbers").sink(&db).high_water(10_000);
/// sink.send(&0).await?;
/// stream::iter(1..=1_200).map(Ok).forward(&mut sink).await?;
/// assert_eq!(db.queue("numbers").stats().await?.depth, 1_201);
/// # Ok(()) })
/// # }
/// ```
pub struct QueueSink<T> {
    queue: Queue<T>,
    db: Db,
    high_water: u64,
    /// So many more may be pushed before the next look.
    room: u64,
    /// What is still to be pushed.
    gathered: Bundle,
    looking: Option<BoxFuture<Result<u64, ClientError>>>,
    pushing: Option<BoxFuture<Pushed>>,
}

/// What came of a push, and what is to be pushed again if the database did not take it.
type Pushed = (Result<(), ClientError>, Vec<Message>);

impl<T> fmt::Debug for QueueSink<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueueSink")
            .field("queue", &self.queue)
            .field("high_water", &self.high_water)
            .field("gathered", &self.gathered.len())
            .finish_non_exhaustive()
    }
}

// Nothing in it is pinned.
impl<T> Unpin for QueueSink<T> {}

impl<T> QueueSink<T> {
    pub(super) fn new(queue: Queue<T>, db: Db) -> Self {
        let (looking, pushing) = (None, None);
        Self {
            queue,
            db,
            high_water: 10_000,
            room: 0,
            gathered: Bundle::default(),
            looking,
            pushing,
        }
    }

    /// Waits while so many messages are in the queue: 10,000 if it is not said. Other producers may push in the meantime.
    #[must_use]
    pub fn high_water(self, messages: u64) -> Self {
        Self { high_water: messages.max(1), ..self }
    }

    fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ClientError>> {
        while self.room == 0 {
            let (db, name, high_water) = (&self.db, self.queue.name, self.high_water);
            let looking = self.looking.get_or_insert_with(|| look(db.clone(), name, high_water));
            let looked = ready!(looking.as_mut().poll(cx));
            self.looking = None;
            self.room = looked?;
        }
        Poll::Ready(Ok(()))
    }

    fn poll_pushed(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ClientError>> {
        loop {
            if let Some(pushing) = &mut self.pushing {
                let (pushed, again) = ready!(pushing.as_mut().poll(cx));
                self.pushing = None;
                for message in again {
                    self.gathered.add(message);
                }
                pushed?;
            } else if self.gathered.len() == 0 {
                return Poll::Ready(Ok(()));
            } else {
                let (db, messages) = (self.db.clone(), self.gathered.take());
                self.pushing = Some(Box::pin(push(db, messages)));
            }
        }
    }
}

/// A message has a name: one that the database took without being heard is not pushed twice.
async fn push(db: Db, messages: Vec<Message>) -> Pushed {
    match send(&db, messages.clone()).await {
        Ok(_) => (Ok(()), Vec::new()),
        Err(error @ ClientError::Job { .. }) => (Err(error), Vec::new()),
        Err(error) => (Err(error), messages),
    }
}

/// How many may be pushed, as soon as that is not nothing.
fn look(db: Db, queue: &'static str, high_water: u64) -> BoxFuture<Result<u64, ClientError>> {
    Box::pin(async move {
        loop {
            let depth = db.queue(queue).depth(high_water).await?;
            // Looking costs more than pushing: not before each message.
            let room = high_water.saturating_sub(depth).div_ceil(10);
            if room > 0 {
                return Ok(room);
            }
            tokio::time::sleep(LOOK).await;
        }
    })
}

impl<T: Serialize + DeserializeOwned> QueueSink<T> {
    /// Pushes a message, as soon as the queue is not too deep.
    pub async fn send(&mut self, value: &T) -> Result<JobId, ClientError> {
        std::future::poll_fn(|cx| self.poll_room(cx)).await?;
        self.room -= 1;
        self.queue.push(&self.db, value).await
    }
}

impl<T: Serialize + DeserializeOwned> Sink<T> for QueueSink<T> {
    type Error = ClientError;

    fn poll_ready(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), ClientError>> {
        if self.room == 0 || self.gathered.is_full() || self.pushing.is_some() {
            // What was gathered counts before the queue is looked at again.
            ready!(self.poll_pushed(cx))?;
        }
        self.poll_room(cx)
    }

    fn start_send(mut self: Pin<&mut Self>, value: T) -> Result<(), ClientError> {
        let message = self.queue.message(&value)?;
        self.gathered.add(message);
        self.room = self.room.saturating_sub(1);
        Ok(())
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), ClientError>> {
        self.poll_pushed(cx)
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), ClientError>> {
        self.poll_flush(cx)
    }
}
