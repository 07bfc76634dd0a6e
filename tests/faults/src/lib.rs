//! Experiments on real processes, each with a verdict: what survives kill -9, stopped workers, cut connections, lost
//! answers and wrong clocks.
//!
//! `cargo test -p pgflow-faults` runs all of them in a short form; `cargo run --release -p pgflow-faults -- --long`
//! takes its time. `docs/faults.md` says what each shows.
//!
//! | module | concern |
//! |---|---|
//! | `harness` | databases, processes, journals, verdicts: what experiments are made of |
//! | `flows` | what workers do |
//! | `child` | the processes that experiments start, and harm |
//! | `proxy` | a connection to Postgres that can be cut at a chosen moment |
//! | `experiments` | the catalogue |

#![forbid(unsafe_code)]

pub mod child;
mod experiments;
mod flows;
pub mod harness;
mod proxy;

pub use experiments::CATALOGUE;
