//! The transaction that a step shares with the record of its completion.

/// A database transaction, as the parameter `tx: &mut Tx` of a step: what the step writes through it is
/// committed together with the step's completion, or not at all.
#[derive(Debug)]
pub struct Tx(pub(crate) Inner);

#[derive(Debug)]
#[non_exhaustive]
pub(crate) enum Inner {
    #[cfg(feature = "postgres")]
    Postgres(sqlx::Transaction<'static, sqlx::Postgres>),
    #[cfg(feature = "sqlite")]
    Sqlite(sqlx::Transaction<'static, sqlx::Sqlite>),
}

impl Tx {
    /// The connection to Postgres, if the run is there.
    #[cfg(feature = "postgres")]
    pub fn postgres(&mut self) -> Option<&mut sqlx::PgConnection> {
        match &mut self.0 {
            Inner::Postgres(transaction) => Some(transaction),
            #[cfg(feature = "sqlite")]
            Inner::Sqlite(_) => None,
        }
    }

    /// The connection to SQLite, if the run is there.
    #[cfg(feature = "sqlite")]
    pub fn sqlite(&mut self) -> Option<&mut sqlx::SqliteConnection> {
        match &mut self.0 {
            #[cfg(feature = "postgres")]
            Inner::Postgres(_) => None,
            Inner::Sqlite(transaction) => Some(transaction),
        }
    }
}
