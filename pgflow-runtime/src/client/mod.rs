//! Runs, from the outside: started, watched, read, ended.

mod any;
mod check;
mod error;
mod events;
mod find;
mod job;
mod list;
mod manage;
mod patience;
mod progress;
mod prune;
mod run;
mod start;
mod stream;
mod upkeep;
mod waiting;
mod watch;
mod why;

pub use error::ClientError;
pub use events::Events;
pub use find::RunIdPrefix;
pub use job::{JobHandle, JobPage, JobReason, JobWhy, Submit};
pub use list::RunPage;
pub(crate) use patience::again;
pub use progress::StepProgress;
pub(crate) use prune::BATCH;
pub use run::Run;
pub use start::Start;
pub(crate) use stream::Hub;
pub use stream::{Chunks, Emitted, NamedStream, StreamWriter};
pub(crate) use waiting::Waiting;
pub use why::{Reason, Why};
