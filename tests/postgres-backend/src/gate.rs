//! A gate in front of the table of runs: starts wait at it, in the database.

use std::time::Duration;

use pgflow_test_support::TestDb;
use sqlx::PgPool;
use tokio::task::JoinHandle;

type Transaction = sqlx::Transaction<'static, sqlx::Postgres>;

const LOCK: &str = "lock table pgflow.runs in share row exclusive mode";

/// While it is closed, no run starts.
#[derive(Debug)]
pub struct Gate {
    pool: PgPool,
    closed: Transaction,
}

impl Gate {
    /// For this database.
    ///
    /// # Panics
    /// When the server is gone.
    pub async fn close(db: &TestDb) -> Self {
        Self { pool: db.pool.clone(), closed: closed(&db.pool).await }
    }

    /// Until a statement like this waits in front of it.
    ///
    /// # Panics
    /// When none comes.
    pub async fn wait_for(&self, statement: &str) {
        let waiting = "select exists (select from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock' and query like $1)";
        for _ in 0..6000 {
            let found = sqlx::query_scalar(waiting).bind(statement).fetch_one(&self.pool).await;
            if found.expect("the server is there") {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("no `{statement}` waits");
    }

    /// The one that waits goes through, and the gate is closed again behind it.
    ///
    /// # Panics
    /// When the server is gone.
    pub async fn let_one_through(self) -> Self {
        // Locks are given in the order of asking.
        let pool = self.pool.clone();
        let next: JoinHandle<Transaction> = tokio::spawn(async move { closed(&pool).await });
        self.wait_for("lock table %").await;
        let pool = self.pool.clone();
        self.open().await;
        Self { pool, closed: next.await.expect("a lock") }
    }

    /// Everybody goes through.
    ///
    /// # Panics
    /// When the server is gone.
    pub async fn open(self) {
        self.closed.commit().await.expect("the server is there");
    }
}

async fn closed(pool: &PgPool) -> Transaction {
    let mut transaction = pool.begin().await.expect("the server is there");
    sqlx::query(LOCK).execute(&mut *transaction).await.expect("a lock");
    transaction
}
