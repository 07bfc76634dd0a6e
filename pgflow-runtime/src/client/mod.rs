//! Runs, from the outside: started, watched, read, ended.

mod check;
mod error;
mod events;
mod list;
mod manage;
mod patience;
mod progress;
mod run;
mod start;
mod watch;

pub use error::ClientError;
pub use events::Events;
pub use list::RunPage;
pub use progress::StepProgress;
pub use run::Run;
pub use start::Start;
