//! Streams, from the outside: read as they grow, and written by name.

mod cursor;
mod feed;
mod hub;
mod named;
mod reader;

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::stream::{Stream, StreamExt, unfold};
use pgflow_machine::TaskKey;
use pgflow_machine::log::StreamKey;
use serde::de::DeserializeOwned;

pub(crate) use hub::Hub;
pub use named::{NamedStream, StreamWriter};

use super::{ClientError, Run};
use crate::check::StepOf;
use crate::data_error::What;
use crate::db::Db;
use crate::emit::Emits;
use crate::{DataError, Flow};
use cursor::{Begin, Cursor};
use reader::Reader;

/// What a reader of a stream gets.
///
/// ```
/// use pgflow::client::Emitted;
///
/// let chunk = Emitted::Chunk { number: 0, value: "hello" };
/// assert_eq!(chunk.value(), Some("hello"));
/// assert_eq!(Emitted::<&str>::Restarted { attempt: 2 }.value(), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Emitted<T> {
    /// Something that was said.
    Chunk {
        /// Its number: a reader that is to go on after it begins [at](Chunks::at) the next one.
        number: u64,
        /// What was said.
        value: T,
    },
    /// Another attempt says everything again: what came before counts no more.
    Restarted {
        /// Which attempt.
        attempt: u32,
    },
}

impl<T> Emitted<T> {
    /// What was said, if it is that.
    pub fn value(self) -> Option<T> {
        match self {
            Self::Chunk { value, .. } => Some(value),
            Self::Restarted { .. } => None,
        }
    }
}

impl<F: Flow> Run<F> {
    /// What a step says, from its beginning to its end, as it says it.
    ///
    /// ```
    /// # use pgflow::prelude::*;
    /// # #[flow(input = u8)]
    /// # mod count {
    /// #     use pgflow::prelude::*;
    /// #     #[step] pub async fn up(run: u8, out: Emit<u8>) -> Result<u8> { out.send(run).await?; Ok(run) }
    /// # }
    /// use pgflow::client::Emitted;
    ///
    /// # async fn example(run: pgflow::Run<count::Flow>) -> Result<(), pgflow::ClientError> {
    /// let mut numbers = run.stream::<count::up>();
    /// while let Some(said) = numbers.next().await {
    ///     match said? {
    ///         Emitted::Chunk { value, .. } => println!("{value}"),
    ///         _ => println!("… from the beginning:"),
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn stream<S: StepOf<F, Read: Sized> + Emits<Chunk: DeserializeOwned>>(
        &self,
    ) -> Chunks<S::Chunk> {
        self.stream_of::<S>(0)
    }

    /// What the task of a map step says that works on the element of this index.
    pub fn stream_of<S: StepOf<F, Read: Sized> + Emits<Chunk: DeserializeOwned>>(
        &self,
        index: u32,
    ) -> Chunks<S::Chunk> {
        let task = TaskKey { run: self.id, step: S::SLUG.to_owned(), index };
        Chunks::new(&self.db, StreamKey::Task(task), json, Some(F::DEF))
    }
}

impl Db {
    /// What a step of a run of any flow says, as bytes of JSON.
    pub fn stream_of_task(&self, task: TaskKey) -> Chunks<Vec<u8>> {
        Chunks::new(self, StreamKey::Task(task), bytes, None)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "as those who keep the bytes take them")]
fn json<T: DeserializeOwned>(data: Vec<u8>) -> Result<T, DataError> {
    let unreadable = |source| DataError::Read { what: What::Chunk.to_string(), source };
    serde_json::from_slice(&data).map_err(unreadable)
}

#[expect(clippy::unnecessary_wraps, reason = "as those that can fail")]
fn bytes(data: Vec<u8>) -> Result<Vec<u8>, DataError> {
    Ok(data)
}

/// Chunks of a stream, as a [`Stream`]: say from where on before the first is asked for. It ends when the stream does; if that
/// ended with an error, the last item is that error.
///
/// A reader that is slow holds no more than a page. All readers of a stream in a process share what is read at its end.
pub struct Chunks<T> {
    state: State<T>,
}

enum State<T> {
    /// Nothing was asked for yet.
    New(Box<New<T>>),
    Reading(Reading<T>),
}

type Item<T> = Result<Emitted<T>, ClientError>;
type Reading<T> = Pin<Box<dyn Stream<Item = Item<T>> + Send>>;

struct New<T> {
    db: Db,
    stream: StreamKey,
    read: fn(Vec<u8>) -> Result<T, DataError>,
    flow: Option<&'static crate::FlowDef>,
    begin: Begin,
    all: bool,
}

impl<T: 'static> Chunks<T> {
    fn new(
        db: &Db,
        stream: StreamKey,
        read: fn(Vec<u8>) -> Result<T, DataError>,
        flow: Option<&'static crate::FlowDef>,
    ) -> Self {
        let new = New { db: db.clone(), stream, read, flow, begin: Begin::First, all: false };
        Self { state: State::New(Box::new(new)) }
    }

    /// From the chunk of this number on; if that was said by an earlier attempt, from the beginning of the latest.
    #[must_use]
    pub fn at(self, number: u64) -> Self {
        self.begin(Begin::At(number))
    }

    /// Only what is said from now on.
    #[must_use]
    pub fn tail(self) -> Self {
        self.begin(Begin::Last(0))
    }

    /// The last so many chunks, and what is said from now on.
    #[must_use]
    pub fn last(self, many: u64) -> Self {
        self.begin(Begin::Last(many))
    }

    /// What earlier attempts said, too.
    #[must_use]
    pub fn all(mut self) -> Self {
        if let State::New(new) = &mut self.state {
            new.all = true;
        }
        self
    }

    fn begin(mut self, begin: Begin) -> Self {
        if let State::New(new) = &mut self.state {
            new.begin = begin;
        }
        self
    }

    /// The next item; `None` after the end.
    pub async fn next(&mut self) -> Option<Item<T>> {
        StreamExt::next(self).await
    }

    fn reading(&mut self) -> &mut Reading<T> {
        if let State::New(new) = &self.state {
            let cursor = Cursor::new(new.begin, new.all);
            let reader = Reader::new(new.db.clone(), new.stream.clone(), cursor, new.flow);
            let items = unfold((reader, new.read), |(mut reader, read)| async move {
                let item = reader.next(read).await?;
                Some((item, (reader, read)))
            });
            self.state = State::Reading(Box::pin(items.fuse()));
        }
        match &mut self.state {
            State::Reading(reading) => reading,
            State::New(_) => unreachable!("it was made just now"),
        }
    }
}

impl<T: 'static> Stream for Chunks<T> {
    type Item = Item<T>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.reading().as_mut().poll_next(context)
    }
}

// Nothing in it is pinned in place.
impl<T> Unpin for Chunks<T> {}

impl<T> fmt::Debug for Chunks<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Chunks")
    }
}
