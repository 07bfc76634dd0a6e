//! The transaction that a step shares with the record of its completion.

use std::sync::{Arc, Mutex, PoisonError};

use crate::StartIn;

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
    /// Undoes everything. If the connection is gone, so is the transaction.
    pub(crate) async fn rollback(self) {
        match self.0 {
            #[cfg(feature = "postgres")]
            Inner::Postgres(transaction) => undone(transaction.rollback().await),
            #[cfg(feature = "sqlite")]
            Inner::Sqlite(transaction) => undone(transaction.rollback().await),
        }
    }

    pub(crate) fn connection(&mut self) -> &mut (dyn StartIn + Send) {
        match self.0 {
            #[cfg(feature = "postgres")]
            Inner::Postgres(ref mut transaction) => transaction,
            #[cfg(feature = "sqlite")]
            Inner::Sqlite(ref mut transaction) => transaction,
        }
    }

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

#[cfg(any(feature = "postgres", feature = "sqlite"))]
fn undone(result: Result<(), sqlx::Error>) {
    if let Err(error) = result {
        tracing::debug!(%error, "a transaction could not be rolled back");
    }
}

/// Where a transaction is while its step does not have it.
#[derive(Clone, Debug, Default)]
pub(crate) struct TxSlot(Arc<Mutex<Option<Tx>>>);

impl TxSlot {
    pub(crate) fn holding(tx: Tx) -> Self {
        Self(Arc::new(Mutex::new(Some(tx))))
    }

    pub(crate) fn take(&self) -> Option<Tx> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn put_back(&self, tx: Tx) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(tx);
    }
}

/// A transaction in the hands of its step. If the step is aborted, it is dropped, and with it undone.
#[derive(Debug)]
pub struct Lent {
    tx: Tx,
    slot: TxSlot,
}

impl Lent {
    pub(crate) fn new(slot: &TxSlot) -> Option<Self> {
        Some(Self { tx: slot.take()?, slot: slot.clone() })
    }

    /// What the step is called with.
    pub fn get(&mut self) -> &mut Tx {
        &mut self.tx
    }

    /// The step is done with it.
    pub fn give_back(self) {
        self.slot.put_back(self.tx);
    }
}
