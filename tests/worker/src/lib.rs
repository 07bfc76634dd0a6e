//! What the tests of worker and client share: a database of every kind, and a worker that stops when
//! told to.

#![forbid(unsafe_code)]

mod working;

pub use working::Working;

use pgflow::Db;

/// An error of a test.
pub type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// A fresh database.
pub async fn memory() -> Outcome<Db> {
    let db = Db::connect("memory:").await?;
    db.migrate().await?;
    Ok(db)
}
