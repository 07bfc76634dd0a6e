//! The backends of this repository, as subjects.

mod memory;
mod mysql;
mod postgres;
mod sqlite;

pub use memory::InMemory;
pub use mysql::OnMySql;
pub use postgres::OnPostgres;
pub use sqlite::SqliteFile;
