//! The backends of this repository, as subjects.

mod memory;
mod postgres;
mod sqlite;

pub use memory::InMemory;
pub use postgres::OnPostgres;
pub use sqlite::SqliteFile;
