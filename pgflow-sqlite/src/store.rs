//! Transactions of a file.

use std::sync::atomic::Ordering;

use pgflow_machine::{Timestamp, WorkerId};
use sqlx::{Sqlite as Database, Transaction};

use super::error::{Result, not_committed};
use super::session::SqliteSession;
use super::tx::{self, SqliteTx};
use super::writer::check_not_held;
use super::{Sqlite, migrate, upkeep};
use pgflow_backend::backend::{Abilities, Wake, Wakes};
use pgflow_backend::store::{Access, Cursors, Starts, Store, Stored};
use pgflow_backend::tx::StepTx;

impl Sqlite {
    pub(super) async fn session(
        &self,
        mut connection: Transaction<'static, Database>,
    ) -> Result<SqliteSession> {
        let (now, catalog) = self.known.look(&mut connection).await?;
        Ok(SqliteSession::new(connection, Timestamp::from_micros(now), catalog))
    }
}

impl Store for Sqlite {
    type Session = SqliteSession;

    const NAME: &'static str = "sqlite";

    fn abilities(&self) -> Abilities {
        let multi_process = !self.connections.is_memory;
        Abilities { multi_process, transactions: true, holds_connections: true }
    }

    async fn migrate(&self) -> Stored<()> {
        Ok(migrate::migrate(&self.connections).await?)
    }

    async fn begin(&self, access: Access) -> Stored<SqliteSession> {
        let connection = match access {
            Access::Read => self.connections.read().await?,
            Access::Write | Access::Step => self.connections.begin().await?,
        };
        Ok(self.session(connection).await?)
    }

    async fn commit(&self, session: SqliteSession) -> Stored<()> {
        Ok(session.connection.commit().await.map_err(super::error::Error::from)?)
    }

    fn check_free(&self) -> Stored<()> {
        Ok(check_not_held(&self.connections.lock)?)
    }

    fn nth_claim(&self) -> u32 {
        self.claims.fetch_add(1, Ordering::Relaxed)
    }

    fn cursors(&self) -> &Cursors {
        &self.cursors
    }

    fn starts(&self) -> Option<&Starts> {
        Some(&self.starts)
    }

    /// The transaction has the write lock of the whole file until it ends.
    async fn lend(&self, session: SqliteSession) -> Stored<StepTx> {
        let connection = tx::mark(session.connection).await?;
        Ok(Box::new(SqliteTx::new(connection, self.connections.lock.clone())))
    }

    async fn take_back(&self, tx: StepTx) -> Stored<SqliteSession> {
        let connection = tx::take_back(tx).await?;
        Ok(self.session(connection).await?)
    }

    async fn commit_step(&self, session: SqliteSession) -> Stored<()> {
        Ok(session.connection.commit().await.map_err(not_committed)?)
    }

    async fn undo(&self, session: SqliteSession) -> Stored<()> {
        Ok(session.connection.rollback().await.map_err(super::error::Error::from)?)
    }

    async fn beat(&self) {
        upkeep::beat(self).await;
    }

    fn sign_off(&self, worker: WorkerId) -> impl Future<Output = Stored<()>> + Send {
        let is_known = self.signed.forget(worker);
        async move {
            if is_known {
                upkeep::note_end(self, worker).await;
            }
            Ok(())
        }
    }

    fn wake(&self, wake: Wake) {
        self.hints.send(wake);
    }

    fn wakes(&self) -> Wakes {
        self.hints.listen(&self.connections)
    }

    async fn close(&self) -> Stored<()> {
        self.hints.close();
        self.connections.close().await;
        Ok(())
    }
}
