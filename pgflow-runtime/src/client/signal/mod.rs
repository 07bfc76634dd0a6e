//! Answers for steps that wait, and what waits for them.

mod open;
mod send;

pub use send::Signalling;
