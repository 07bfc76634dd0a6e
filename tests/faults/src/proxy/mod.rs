//! A connection to Postgres or MariaDB that can be cut at a chosen moment.
//!
//! | file | concern |
//! |---|---|
//! | `listener` | takes connections, and leads them to the server |
//! | `connection` | one of them: passes messages on, until it is told to cut |
//! | `frames` | bytes to messages |
//! | `server` | where connections lead |
//! | `watch` | which message is the one to cut after |

mod connection;
mod faults;
mod frames;
mod listener;
mod server;
mod watch;

pub(crate) use listener::Proxy;
pub(crate) use watch::Cut;
