//! Connections to a file: one that writes, a few that read.

use std::path::Path;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, Sqlite, SqliteConnection, Transaction};

use super::error::{Result, cannot_write, is_busy};
use super::turn::Turns;
use super::writer::{check_not_held, watch};
use super::{Durability, SqliteError, SqliteOptions};
use pgflow_backend::shown::shown_file;
use pgflow_backend::tx::WriteLock;

/// How often the write lock is asked for, each time for as long as the busy timeout says.
const TRIES: u32 = 3;

/// Connections to one database. SQLite has one writer at a time, so a second writing connection would
/// only wait inside SQLite instead of here, where waiting is fair.
#[derive(Debug)]
pub(super) struct Connections {
    pub(super) writer: SqlitePool,
    pub(super) lock: WriteLock,
    turns: Turns,
    pub(super) readers: SqlitePool,
    pub(super) is_memory: bool,
}

impl Connections {
    pub(super) async fn open(options: &SqliteOptions) -> Result<Self> {
        let Some(file) = &options.file else {
            let lock = WriteLock::new(options.longest_tx);
            let pool = watched(pool(1), &lock, |_| true);
            let pool = pool.connect_with(SqliteConnectOptions::new()).await?;
            let turns = Turns::default();
            return Ok(Self { writer: pool.clone(), lock, turns, readers: pool, is_memory: true });
        };
        check_directory(file)?;
        let connect = SqliteConnectOptions::new()
            .filename(file)
            .busy_timeout(options.busy_timeout)
            .synchronous(match options.durability {
                Durability::Full => SqliteSynchronous::Full,
                Durability::Normal => SqliteSynchronous::Normal,
            })
            .disable_statement_logging()
            .pragma("temp_store", "memory")
            .pragma("cache_size", "-16384");
        match Self::of_file(file, options, connect.clone()).await {
            Ok((connections, is_ours)) => {
                // Whoever looks at a file of another program leaves it as it is.
                if is_ours {
                    connections.log_ahead().await?;
                }
                Ok(connections)
            }
            Err(error) if cannot_write(&error) && is_alone(file) => {
                let connect = connect.read_only(true).immutable(true);
                Ok(Self::of_file(file, options, connect).await?.0)
            }
            Err(error) => Err(error),
        }
    }

    /// Those of a file, once one has read it, and whether it is ours.
    async fn of_file(
        file: &Path,
        options: &SqliteOptions,
        connect: SqliteConnectOptions,
    ) -> Result<(Self, bool)> {
        let lock = WriteLock::new(options.longest_tx);
        let writer = open_writer(&connect, &lock).await?;
        let readers =
            file_pool(options.readers).connect_lazy_with(connect.pragma("query_only", "true"));
        let turns = Turns::beside(file);
        let connections = Self { writer, lock, turns, readers, is_memory: false };
        let is_ours = is_ours(&mut *connections.writer.acquire().await?).await?;
        Ok((connections, is_ours))
    }

    /// Lets readers and the writer not wait for each other. Switching needs the file for a moment, and fails at once when another
    /// process does the same.
    pub(super) async fn log_ahead(&self) -> Result<()> {
        let mut pause = Duration::from_millis(5);
        loop {
            match sqlx::query("pragma journal_mode = wal").execute(&self.writer).await {
                Err(error) if is_busy(&error) && pause < Duration::from_secs(2) => {
                    tokio::time::sleep(pause).await;
                    pause *= 2;
                }
                result => return result.map(drop).map_err(Into::into),
            }
        }
    }

    /// Opens a transaction that may write. It takes the write lock at once: one that began with a read
    /// could not get it later, however long it waited.
    pub(super) async fn begin(&self) -> Result<Transaction<'static, Sqlite>> {
        check_not_held(&self.lock)?;
        let _turn = self.turns.next().await?;
        let mut tries = 1;
        loop {
            match self.writer.begin_with("begin immediate").await {
                Err(error) if is_busy(&error) && tries < TRIES => tries += 1,
                result => return Ok(result?),
            }
        }
    }

    /// Opens a transaction that reads one state of the database.
    pub(super) async fn read(&self) -> Result<Transaction<'static, Sqlite>> {
        Ok(self.readers.begin().await?)
    }

    pub(super) async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }
}

async fn open_writer(connect: &SqliteConnectOptions, lock: &WriteLock) -> Result<SqlitePool> {
    let connect = connect.clone().create_if_missing(true).pragma("journal_size_limit", "67108864");
    Ok(watched(pool(1), lock, is_sound).connect_with(connect).await?)
}

/// Whether somebody has migrated this database, or begun to.
pub(super) async fn is_ours(connection: &mut SqliteConnection) -> Result<bool> {
    let table = "select exists (select 1 from sqlite_schema where name = 'pgflow_migrations')";
    Ok(sqlx::query_scalar(table).fetch_one(connection).await?)
}

fn pool(connections: u32) -> SqlitePoolOptions {
    SqlitePoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(Duration::from_secs(30))
        .idle_timeout(None)
        .max_lifetime(None)
        .test_before_acquire(false)
}

/// As above, for a file.
fn file_pool(connections: u32) -> SqlitePoolOptions {
    pool(connections).before_acquire(|connection, _| {
        let is_sound = is_sound(connection);
        Box::pin(std::future::ready(Ok(is_sound)))
    })
}

/// On some errors, such as a full disk, SQLite ends a transaction on its own account, and sqlx takes the connection
/// to be inside of it for ever: such a connection is replaced.
fn is_sound(connection: &SqliteConnection) -> bool {
    !connection.is_in_transaction()
}

/// A pool of one connection, whose statements can be interrupted.
fn watched(
    pool: SqlitePoolOptions,
    lock: &WriteLock,
    is_sound: fn(&SqliteConnection) -> bool,
) -> SqlitePoolOptions {
    let (first, next) = (lock.clone(), lock.clone());
    pool.after_connect(move |connection, _| Box::pin(watch(first.clone(), connection)))
        .before_acquire(move |connection, _| {
            next.go_on();
            let is_sound = is_sound(connection);
            Box::pin(std::future::ready(Ok(is_sound)))
        })
}

/// Whether nobody has the file open: its log would be beside it. To read a file that has one, SQLite writes beside it; where it may
/// not, one without a log is all there is, and can be read as it is.
fn is_alone(file: &Path) -> bool {
    let mut log = file.as_os_str().to_owned();
    log.push("-wal");
    file.is_file() && !Path::new(&log).exists()
}

/// SQLite itself would only say that it can't open the file.
fn check_directory(file: &Path) -> Result<()> {
    let directory = file.parent().filter(|directory| !directory.as_os_str().is_empty());
    match directory {
        Some(directory) if !directory.is_dir() => {
            Err(SqliteError::NoDirectory { file: shown_file(&file.to_string_lossy()) }.into())
        }
        _ => Ok(()),
    }
}
