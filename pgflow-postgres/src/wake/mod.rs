//! Hints between processes: a listener and a bell on one connection of their own.
//!
//! Within the process a hint is there at once. To others it goes by NOTIFY, and never from the
//! transaction that made it true, because NOTIFY takes a lock on the whole database until the commit.

mod bell;
mod listener;
mod pace;
mod session;

pub(super) use bell::Bell;
pub(super) use listener::HintListener;

/// What hints of all flows come on. Their payload is the slug of a flow's version, or nothing for
/// "look at everything".
pub(super) const CHANNEL: &str = "pgflow_wake";
