//! The transaction that a step shares with the record of its completion.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pgflow_backend::tx::{StepTx, WriteLock};

/// A database transaction, as the parameter `tx: &mut Tx` of a step: what the step writes through it is
/// committed together with the step's completion, or not at all.
///
/// The step must not end it. An attempt that did, with a `commit` or `rollback` of its own or by a statement that makes SQLite roll
/// back (`insert or rollback`), fails with the words "the step ended its transaction"; what its own `commit` made permanent, and on
/// SQLite what it wrote after the end, stays.
#[derive(Debug)]
pub struct Tx(pub(crate) StepTx);

impl Tx {
    /// Undoes everything.
    pub(crate) async fn rollback(self) {
        self.0.rollback().await;
    }

    /// What it keeps others from.
    pub(crate) fn scope(&self) -> Scope {
        Scope { writer: self.0.write_lock() }
    }

    /// The connection to Postgres, if the run is there.
    #[cfg(feature = "postgres")]
    pub fn postgres(&mut self) -> Option<&mut sqlx::PgConnection> {
        self.0.downcast_mut().map(pgflow_postgres::PostgresTx::connection)
    }

    /// The connection to SQLite, if the run is there.
    #[cfg(feature = "sqlite")]
    pub fn sqlite(&mut self) -> Option<&mut sqlx::SqliteConnection> {
        self.0.downcast_mut().map(pgflow_sqlite::SqliteTx::connection)
    }

    /// The connection to MySQL or MariaDB, if the run is there.
    #[cfg(feature = "mysql")]
    pub fn mysql(&mut self) -> Option<&mut sqlx::MySqlConnection> {
        self.0.downcast_mut().map(pgflow_mysql::MySqlTx::connection)
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

/// What the step that runs here keeps others from: on SQLite its transaction has the one write lock, and a call that waits for it
/// inside of the step would wait for ever.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    writer: Option<WriteLock>,
}

impl Scope {
    /// How long it may be kept.
    pub(crate) fn longest(&self) -> Option<Duration> {
        self.writer.as_ref().map(|writer| writer.longest)
    }

    /// That of whoever calls this.
    pub(crate) fn here() -> Self {
        Self { writer: WriteLock::held_here() }
    }

    /// Does something as part of the step.
    pub(crate) async fn around<T>(self, work: impl Future<Output = T>) -> T {
        match self.writer {
            Some(writer) => writer.held_by(work).await,
            None => work.await,
        }
    }
}

/// A transaction in the hands of its step. If the step is aborted, it is dropped, and with it undone.
#[derive(Debug)]
pub struct Lent {
    // Dropped first: a long statement would keep the transaction from being undone.
    alarm: Alarm,
    tx: Tx,
    slot: TxSlot,
}

/// Interrupts the statement that is at work, if there is one, when it is dropped: nobody waits for it.
#[derive(Debug)]
struct Alarm(Scope);

impl Drop for Alarm {
    fn drop(&mut self) {
        if let Some(writer) = &self.0.writer {
            writer.interrupt();
        }
    }
}

impl Lent {
    pub(crate) fn new(slot: &TxSlot) -> Option<Self> {
        let tx = slot.take()?;
        Some(Self { alarm: Alarm(tx.scope()), tx, slot: slot.clone() })
    }

    /// What the step is called with.
    pub fn get(&mut self) -> &mut Tx {
        &mut self.tx
    }

    /// The step is done with it.
    pub fn give_back(mut self) {
        self.alarm.0 = Scope::default();
        self.slot.put_back(self.tx);
    }
}
