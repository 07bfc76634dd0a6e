//! Nothing of its own: see the programs beside it.
//!
//! The examples of guides are run from here, because a crate that is packaged cannot include what lies outside of it.

#[cfg(doctest)]
#[doc = include_str!("../../docs/testing-flows.md")]
struct TestingFlows;

#[cfg(doctest)]
#[doc = include_str!("../../docs/waits.md")]
struct Waits;
