//! Applying the migrations of an application's flows.

use sqlx::{PgConnection, PgPool};

use pgflow_backend::flow_migrations::{changed, note};
use pgflow_model::{FlowMigration, FlowMigrations};

/// Why migrations of flows could not be applied. The database is then as it was.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum MigrateFlowsError {
    /// A file that was applied has changed since.
    #[error("{}", changed(name))]
    Changed {
        /// The file.
        name: &'static str,
    },
    /// A statement of a file failed.
    #[error("cannot apply migration `{name}`")]
    Apply {
        /// The file.
        name: &'static str,
        /// Why it failed.
        #[source]
        source: sqlx::Error,
    },
    /// The database could not be asked what was applied.
    #[error("cannot read which migrations were applied")]
    Database(#[from] sqlx::Error),
}

pgflow_model::debug_with_causes!(MigrateFlowsError);

/// Applies the migrations that the database does not have yet, and returns their names. Needs the
/// core: see [`migrate`](super::migrate).
///
/// Safe to call at every start of every process: it takes a lock, and does nothing when there is
/// nothing to do. For programs that do not apply their migrations with a tool.
///
/// ```no_run
/// # const MIGRATIONS: pgflow_model::FlowMigrations =
/// #     pgflow_model::FlowMigrations { package: "shop", files: &[], notes: None };
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use pgflow_postgres::{migrate, migrate_flows};
///
/// let pool = sqlx::PgPool::connect("postgres://localhost/shop").await?;
/// migrate(&pool).await?;
/// migrate_flows(&pool, &MIGRATIONS).await?; // pgflow::migrations!()
/// # Ok(())
/// # }
/// ```
pub async fn migrate_flows(
    pool: &PgPool,
    migrations: &FlowMigrations,
) -> Result<Vec<&'static str>, MigrateFlowsError> {
    let mut transaction = pool.begin().await?;
    sqlx::query("select pg_advisory_xact_lock(3, hashtext($1))")
        .bind(migrations.package)
        .persistent(false)
        .execute(&mut *transaction)
        .await?;
    let mut applied = Vec::new();
    for &FlowMigration { name, checksum, sql, .. } in migrations.files {
        let key = (migrations.package, name);
        if is_applied(&mut transaction, key, checksum).await? {
            continue;
        }
        let failed = |source| MigrateFlowsError::Apply { name, source };
        sqlx::raw_sql(sql).execute(&mut *transaction).await.map_err(failed)?;
        record(&mut transaction, key, checksum).await?;
        applied.push(name);
    }
    transaction.commit().await?;
    note(migrations);
    Ok(applied)
}

async fn is_applied(
    connection: &mut PgConnection,
    (package, name): (&str, &'static str),
    checksum: &str,
) -> Result<bool, MigrateFlowsError> {
    let found: Option<String> = sqlx::query_scalar(
        "select checksum from pgflow.flow_migrations where package = $1 and name = $2",
    )
    .bind(package)
    .bind(name)
    .persistent(false)
    .fetch_optional(connection)
    .await?;
    match found {
        Some(found) if found != checksum => Err(MigrateFlowsError::Changed { name }),
        found => Ok(found.is_some()),
    }
}

async fn record(
    connection: &mut PgConnection,
    (package, name): (&str, &str),
    checksum: &str,
) -> Result<(), sqlx::Error> {
    let insert = "insert into pgflow.flow_migrations (package, name, checksum) values ($1, $2, $3)";
    let query = sqlx::query(insert).bind(package).bind(name).bind(checksum);
    query.persistent(false).execute(connection).await.map(drop)
}
