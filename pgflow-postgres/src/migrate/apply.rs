//! Bringing a database up to date.

use sqlx::{PgConnection, PgPool};

use super::bookkeeping::{self, CREATE, SCHEMA, SETTINGS};
use super::core::Core;
use super::error::{Doing, MigrateError};
use super::file::SqlFile;
use super::pgmq::{self, Pgmq};
use super::report::{Pending, Report};
use super::session::{begin, execute};
use super::state::State;
use super::strangers;

impl Core {
    /// Installs this core, or brings an older one up to date; see [`migrate`](super::migrate).
    pub async fn migrate(&self, pool: &PgPool) -> Result<Report, MigrateError> {
        loop {
            let mut tx = begin(pool).await?;
            let state = State::read(&mut tx).await?;
            let files = self.plan(&state)?;
            let Some(pgmq) = pgmq::find_or_create_extension(&mut tx).await? else {
                // pgmq's installer wants a transaction of its own, so it cannot be part of ours; and
                // the pool may have one connection only, so ours has to end first. pgmq's installer
                // is atomic and takes a lock too: a crash in between leaves a complete pgmq.
                tx.rollback().await.doing("end the transaction")?;
                pgmq::install_embedded(pool).await?;
                continue;
            };
            // What was installed by a library that recorded functions only is recorded now.
            if !files.is_empty() || state.recorded_relations.is_empty() {
                apply(&mut tx, &files).await?;
            }
            tx.commit().await.doing("commit the migration")?;
            return Ok(self.report(&files, pgmq));
        }
    }

    /// What [`migrate`](Self::migrate) would do; changes nothing.
    pub async fn pending(&self, pool: &PgPool) -> Result<Pending, MigrateError> {
        let mut tx = begin(pool).await?;
        let files = self.plan(&State::read(&mut tx).await?)?;
        if !files.is_empty() {
            strangers::refuse(&mut tx).await?;
        }
        let pgmq = pgmq::find(&mut tx).await?;
        tx.rollback().await.doing("end the transaction")?;
        Ok(Pending { files: names(&files), version: self.version(), pgmq })
    }

    fn report(&self, files: &[&SqlFile], pgmq: Pgmq) -> Report {
        Report { applied: names(files), version: self.version(), pgmq }
    }
}

fn names(files: &[&SqlFile]) -> Vec<String> {
    files.iter().map(|file| file.name.clone()).collect()
}

/// Everything happens in one transaction: Postgres can roll back all of it, so whatever goes
/// wrong, and whenever a process dies, the database has either the old core or the new one.
async fn apply(connection: &mut PgConnection, files: &[&SqlFile]) -> Result<(), MigrateError> {
    // Nothing of the caller's may be found in place of ours.
    execute(connection, "set local search_path = pg_catalog, pg_temp")
        .await
        .doing("set the path")?;
    execute(connection, "set local client_min_messages = warning").await.doing("be quiet")?;
    execute(connection, SETTINGS).await.doing("put off the check of functions")?;
    execute(connection, SCHEMA).await.doing("create the schema")?;
    // Not before: somebody else may be about to create it.
    strangers::refuse(connection).await?;
    execute(connection, CREATE).await.doing("create the tables that record migrations")?;
    let mark = bookkeeping::mark_users_indexes();
    execute(connection, &mark).await.doing("mark indexes that are not ours")?;
    for file in files {
        let applied = execute(connection, &file.sql).await;
        applied.map_err(|source| MigrateError::Apply { file: file.name.clone(), source })?;
    }
    if !files.is_empty() {
        let record = bookkeeping::record_files(files.iter().copied());
        execute(connection, &record).await.doing("record the applied files")?;
    }
    execute(connection, &bookkeeping::record_objects()).await.doing("record what the schema has")
}
