//! The backends of this repository, as subjects.

mod memory;

pub use memory::InMemory;
