//! Names of streams and of those who write them.

use std::fmt;
use std::sync::Arc;

use uuid::Uuid;

use crate::TaskKey;
use crate::job::check_name;

/// Which stream.
///
/// ```
/// use pgflow_machine::log::StreamKey;
///
/// assert_eq!(StreamKey::named("logs/42")?.to_string(), "logs/42");
/// assert!(StreamKey::named("").is_err());
/// # Ok::<(), pgflow_machine::log::InvalidName>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StreamKey {
    /// What a task says. It goes with its run.
    Task(TaskKey),
    /// One of its own, for any number of writers. It goes when its time is over.
    Named(Arc<str>),
}

/// A text that cannot be the name of a stream or of a writer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the name of the {what} {why}")]
pub struct InvalidName {
    /// Of what.
    pub what: &'static str,
    /// What is wrong with it.
    pub why: &'static str,
}

impl StreamKey {
    /// The stream of this name.
    pub fn named(name: &str) -> Result<Self, InvalidName> {
        check_name(name).map_err(|why| InvalidName { what: "stream", why })?;
        Ok(Self::Named(name.into()))
    }

    /// A number that is nearly always another one for another stream, and the same one everywhere: for hints.
    pub fn hint(&self) -> u64 {
        const PRIME: u64 = 0x0100_0000_01b3;
        let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(PRIME);
        self.to_string().bytes().fold(0xcbf2_9ce4_8422_2325, mix)
    }
}

impl fmt::Display for StreamKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Task(TaskKey { run, step, index }) => write!(f, "{run}/{step}/{index}"),
            Self::Named(name) => f.write_str(name),
        }
    }
}

/// Who writes: its chunks are numbered 0, 1, 2 … by itself, so that one sent twice is there once.
///
/// ```
/// use pgflow_machine::log::Writer;
///
/// assert_ne!(Writer::new(), Writer::new());
/// assert_eq!(Writer::Attempt(2).to_string(), "2");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Writer {
    /// An attempt at the task that the stream is of.
    Attempt(u32),
    /// Anybody, in a stream of a name.
    Named(Arc<str>),
}

impl Writer {
    /// One that nobody else is.
    #[expect(clippy::new_without_default, reason = "two defaults would differ")]
    pub fn new() -> Self {
        Self::Named(Uuid::now_v7().to_string().into())
    }

    /// The writer of this name: only one program at a time may use it.
    pub fn named(name: &str) -> Result<Self, InvalidName> {
        check_name(name).map_err(|why| InvalidName { what: "writer", why })?;
        Ok(Self::Named(name.into()))
    }

    /// Its attempt, if it is one.
    pub(super) fn attempt(&self) -> Option<u32> {
        match self {
            Self::Attempt(attempt) => Some(*attempt),
            Self::Named(_) => None,
        }
    }
}

/// As it is stored.
impl fmt::Display for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Attempt(attempt) => write!(f, "{attempt}"),
            Self::Named(name) => f.write_str(name),
        }
    }
}
