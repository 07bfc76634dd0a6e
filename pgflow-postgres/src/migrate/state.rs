//! What the database has now.

use std::collections::BTreeMap;

use sqlx::PgConnection;

use super::bookkeeping::FUNCTIONS;
use super::error::{Doing, MigrateError};
use super::relations::{self, Relations};
use super::session::execute;

/// A row of `pgflow.migrations`.
#[derive(Debug, Clone)]
pub(super) struct AppliedFile {
    pub(super) name: String,
    pub(super) checksum: String,
    pub(super) library: String,
}

/// What was recorded, and what the schema looks like.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) files: Vec<AppliedFile>,
    /// Signature to fingerprint, as installed.
    pub(super) recorded: BTreeMap<String, String>,
    /// Signature to fingerprint, as found.
    pub(super) found: BTreeMap<String, String>,
    /// As installed; empty when the library that installed them did not record them.
    pub(super) recorded_relations: Relations,
    /// As found.
    pub(super) found_relations: Relations,
}

/// Our table has these columns; another project's table of that name has not.
const IS_OURS: &str = "select count(*) = 4 from pg_catalog.pg_attribute a
    where a.attrelid = pg_catalog.to_regclass('pgflow.migrations')
      and a.attname in ('name', 'checksum', 'library', 'applied_at') and not a.attisdropped";

/// Something that lives in the schema, if anything does.
const CONTENTS: &str = "select thing from (
      select 'relation ' || c.relname as thing from pg_catalog.pg_class c
        where c.relnamespace = pg_catalog.to_regnamespace('pgflow')
      union all
      select 'function ' || p.proname from pg_catalog.pg_proc p
        where p.pronamespace = pg_catalog.to_regnamespace('pgflow')
      union all
      select 'type ' || t.typname from pg_catalog.pg_type t
        where t.typnamespace = pg_catalog.to_regnamespace('pgflow')
    ) things order by thing limit 1";

/// How the catalog spells types goes by the path, so the caller's is put aside for reading.
const PIN_PATH: &str = "savepoint pgflow_path; set local search_path = pg_catalog, pg_temp";
const UNPIN_PATH: &str = "rollback to savepoint pgflow_path; release savepoint pgflow_path";

impl State {
    /// Reads it; refuses a schema that is not ours.
    pub(super) async fn read(connection: &mut PgConnection) -> Result<Self, MigrateError> {
        let ours: bool = sqlx::query_scalar(IS_OURS)
            .persistent(false)
            .fetch_one(&mut *connection)
            .await
            .doing("look for an installed core")?;
        if !ours {
            return Self::nothing(connection).await;
        }
        execute(connection, PIN_PATH).await.doing("set the path")?;
        let state = Self::read_ours(connection).await?;
        execute(connection, UNPIN_PATH).await.doing("put the path back")?;
        Ok(state)
    }

    async fn nothing(connection: &mut PgConnection) -> Result<Self, MigrateError> {
        let contents: Option<String> = sqlx::query_scalar(CONTENTS)
            .persistent(false)
            .fetch_optional(connection)
            .await
            .doing("look into the pgflow schema")?;
        match contents {
            Some(holds) => Err(MigrateError::Foreign { holds }),
            None => Ok(Self::default()),
        }
    }

    async fn read_ours(connection: &mut PgConnection) -> Result<Self, MigrateError> {
        let files: Vec<(String, String, String)> =
            sqlx::query_as("select name, checksum, library from pgflow.migrations order by name")
                .persistent(false)
                .fetch_all(&mut *connection)
                .await
                .doing("read which files were applied")?;
        let files = files
            .into_iter()
            .map(|(name, checksum, library)| AppliedFile { name, checksum, library })
            .collect();
        let recorded = "select signature, fingerprint from pgflow.migration_functions";
        let recorded = functions(connection, recorded).await?;
        let found = functions(connection, FUNCTIONS).await?;
        let recorded_relations = relations::recorded(connection).await?;
        let found_relations = relations::found(connection).await?;
        Ok(Self { files, recorded, found, recorded_relations, found_relations })
    }
}

async fn functions(
    connection: &mut PgConnection,
    query: &'static str,
) -> Result<BTreeMap<String, String>, MigrateError> {
    let rows: Vec<(String, String)> = sqlx::query_as(query)
        .persistent(false)
        .fetch_all(connection)
        .await
        .doing("read the installed functions")?;
    Ok(rows.into_iter().collect())
}
