#![doc = include_str!("front_page.md")]
#![forbid(unsafe_code)]

mod access;
mod actions;
mod api;
mod app;
mod assets;
mod cached;
mod error;
mod graph;
mod guard;
mod html;
mod job_actions;
mod live;
mod metrics;
mod named_actions;
mod number;
mod options;
mod pages;
mod probes;
mod query;
mod redact;
mod request;
mod router;
mod run_view;
mod said;
mod serve;
mod signal_action;
mod stop;

pub use access::{Access, basic};
pub use api::{api, hide_tokens};
pub use options::Options;
pub use redact::{Payload, PayloadKind};
pub use router::router;
pub use serve::{ADDRESS, ServeError, Server, serve};
