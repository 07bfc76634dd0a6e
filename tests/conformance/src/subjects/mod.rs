//! The backends of this repository, as subjects.

mod memory;
mod sqlite;

pub use memory::InMemory;
pub use sqlite::SqliteFile;
