//! The database that steps with a transaction write to.

use std::sync::OnceLock;
use std::time::Duration;

use pgflow_backend::tx::WriteLock;
use pgflow_machine::Settled;
use pgflow_machine::job::JobHold;
use sqlx::SqlitePool;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};

use super::Sim;
use crate::backend::BackendError;
use crate::pipeline::{BoxFuture, Opens};
use crate::sqlite::SqliteTx;
use crate::tx::Tx;

/// A step may have the database for as long as its own timeout says: no other task waits for it.
const LONGEST: Duration = Duration::from_hours(24);

/// A database in memory, with one connection: where there was none, there would be no tables.
#[derive(Clone, Debug)]
pub(super) struct Database {
    pool: SqlitePool,
    lock: WriteLock,
}

impl Database {
    /// Connects on a thread of its own: a test may have a runtime that must not be blocked.
    fn open() -> Self {
        let connect = || {
            let options = SqlitePoolOptions::new()
                .max_connections(1)
                .acquire_timeout(Duration::from_mins(10))
                .idle_timeout(None)
                .max_lifetime(None)
                .test_before_acquire(false);
            super::drive::runtime().block_on(options.connect_with(SqliteConnectOptions::new()))
        };
        let pool = std::thread::scope(|scope| scope.spawn(connect).join());
        let pool = pool.ok().and_then(Result::ok).expect("a database in memory needs nothing");
        Self { pool, lock: WriteLock::new(LONGEST) }
    }

    async fn begin(&self) -> Tx {
        let begun = self.pool.begin_with("begin immediate").await;
        let begun = begun.expect("one transaction at a time");
        Tx(Box::new(SqliteTx::new(begun, self.lock.clone())))
    }
}

impl Sim {
    /// The database in memory that steps with `tx: &mut Tx` write to: make their tables here, and look at
    /// what they wrote. It is not the one that has the runs, so a step cannot start a run in its transaction.
    ///
    /// ```
    /// use pgflow::prelude::*;
    /// use pgflow::testing::{Crash, Sim};
    ///
    /// #[flow(input = i64)]
    /// mod ledger {
    ///     use super::*;
    ///
    ///     #[step]
    ///     pub async fn book(run: i64, tx: &mut Tx) -> Result<i64> {
    ///         let sqlite = tx.sqlite().ok_or("not SQLite")?;
    ///         sqlx::query("insert into entries values (?)").bind(run).execute(sqlite).await?;
    ///         Ok(run)
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut sim = Sim::new().flow(ledger::Flow);
    /// sqlx::query("create table entries (amount)").execute(&sim.sqlite()).await?;
    /// let run = sim.start(ledger::Flow, &7)?;
    /// sim.crash::<ledger::book>(Crash::BeforeSettle, 1);
    /// sim.drive().await;
    ///
    /// assert_eq!((sim.output(&run)?.book, sim.calls::<ledger::book>()), (7, 2));
    /// // What the first worker wrote went with it.
    /// let entries: Vec<i64> =
    ///     sqlx::query_scalar("select amount from entries").fetch_all(&sim.sqlite()).await?;
    /// assert_eq!(entries, [7]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn sqlite(&mut self) -> SqlitePool {
        self.database().pool.clone()
    }

    fn database(&mut self) -> &Database {
        self.database.get_or_insert_with(Database::open)
    }
}

/// Transactions of the stages of a pipeline, of a database that is there as soon as one is needed.
#[derive(Debug, Default)]
pub(in crate::testing) struct Transactions(OnceLock<Database>);

impl Transactions {
    /// The database itself.
    pub(in crate::testing) fn pool(&self) -> SqlitePool {
        self.0.get_or_init(Database::open).pool.clone()
    }
}

impl Opens for Transactions {
    fn open(&self, _: Vec<JobHold>) -> BoxFuture<Result<Option<Tx>, BackendError>> {
        let database = self.0.get_or_init(Database::open).clone();
        Box::pin(async move { Ok(Some(database.begin().await)) })
    }
}

/// A transaction for a step.
pub(super) async fn begin(sim: &mut Sim) -> Option<Tx> {
    Some(sim.database().begin().await)
}

/// Ends a transaction as its settle ended.
pub(super) async fn end(tx: Tx, settled: Option<Settled>) {
    if settled != Some(Settled::Applied) {
        return tx.rollback().await;
    }
    let tx = tx.0.downcast::<SqliteTx>().expect("it began here");
    tx.into_transaction().commit().await.expect("a transaction in memory can be committed");
}
