//! Hints: something may have changed. They make things fast and are never needed for them to happen.

use std::sync::Arc;

use pgflow_machine::RunId;
use pgflow_machine::log::StreamKey;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

/// Why to look again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wake {
    /// There is something new about this.
    Topic(Topic),
    /// Hints may have been missed: look at everything.
    Gap,
}

/// What a hint is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topic {
    /// The queue of this version of a flow, or a run of it.
    Queue(Arc<str>),
    /// This run was cancelled: its handlers need not go on.
    Run(RunId),
    /// Jobs that need this.
    Need(Arc<str>),
    /// There may be more of the resource or rate of this name.
    Permit(Arc<str>),
    /// A stream has grown or ended: the one with this [hint](StreamKey::hint), or nearly never another.
    Stream(u64),
}

impl Wake {
    /// Something is new in the queue of this version of a flow, or about a run of it.
    pub fn queue(slug: impl Into<Arc<str>>) -> Self {
        Self::Topic(Topic::Queue(slug.into()))
    }

    /// A job that needs this may be had.
    pub fn need(need: impl Into<Arc<str>>) -> Self {
        Self::Topic(Topic::Need(need.into()))
    }

    /// There may be more of a resource or rate.
    pub fn permit(slug: impl Into<Arc<str>>) -> Self {
        Self::Topic(Topic::Permit(slug.into()))
    }

    /// This run was cancelled.
    pub fn run(run: RunId) -> Self {
        Self::Topic(Topic::Run(run))
    }

    /// This stream has grown or ended.
    pub fn stream(stream: &StreamKey) -> Self {
        Self::Topic(Topic::Stream(stream.hint()))
    }
}

/// Hints as they come.
#[derive(Debug)]
pub struct Wakes(broadcast::Receiver<Wake>);

impl Wakes {
    /// From a channel that the backend sends on.
    pub fn new(receiver: broadcast::Receiver<Wake>) -> Self {
        Self(receiver)
    }

    /// The next hint. Waits for ever when none can come any more, so give it a timeout.
    pub async fn next(&mut self) -> Wake {
        match self.0.recv().await {
            Ok(wake) => wake,
            Err(RecvError::Lagged(_)) => Wake::Gap,
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}
