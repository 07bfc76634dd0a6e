//! Flows to run, and a proxy that cuts connections where a test wants it.

#![forbid(unsafe_code)]

mod proxy;
mod work;

pub use proxy::{Cut, Proxy};
pub use work::{chain, claim, complete, ensure, map, start, text};
