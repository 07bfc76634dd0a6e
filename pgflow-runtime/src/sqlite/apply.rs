//! Applying the migrations of a program's flows.

use std::sync::Arc;

use pgflow_model::{FlowShape, Operation, StepOptions};
use sqlx::SqliteConnection;

use super::Sqlite;
use super::definitions::{Definitions, Session, Version};
use super::ensure::{change, insert, known};
use super::error::{Result, broken};
use crate::backend::{BackendError, Ensured, FlowVersion};
use crate::{FlowMigration, FlowMigrations};

/// Applies what the file does not have yet, in one transaction.
pub(super) async fn apply(
    sqlite: &Sqlite,
    migrations: &FlowMigrations,
) -> Result<Vec<&'static str>> {
    let mut tx = sqlite.connections.begin().await?;
    let now = super::clock::now(&mut tx).await?;
    let mut applied = Vec::new();
    for file in migrations.files {
        if is_applied(&mut tx, migrations.package, file).await? {
            continue;
        }
        for operation in file.operations().map_err(refused)? {
            run(&mut tx, now, operation).await?;
        }
        record(&mut tx, migrations.package, file, now).await?;
        applied.push(file.name);
    }
    tx.commit().await?;
    Ok(applied)
}

fn refused(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> BackendError {
    BackendError::Refused(why.into())
}

async fn is_applied(
    connection: &mut SqliteConnection,
    package: &str,
    file: &FlowMigration,
) -> Result<bool> {
    let sql = "select checksum from pgflow_flow_migrations where package = ? and name = ?";
    let query = sqlx::query_scalar(sql).bind(package).bind(file.name);
    let found: Option<String> = query.fetch_optional(connection).await?;
    match found {
        Some(found) if found != file.checksum => {
            let text = format!("migration `{}` was applied and has changed since", file.name);
            Err(refused(text).into())
        }
        found => Ok(found.is_some()),
    }
}

async fn record(
    connection: &mut SqliteConnection,
    package: &str,
    file: &FlowMigration,
    now: i64,
) -> Result<()> {
    let sql = "insert into pgflow_flow_migrations (package, name, checksum, applied_at)
        values (?, ?, ?, ?)";
    let query = sqlx::query(sql).bind(package).bind(file.name).bind(file.checksum).bind(now);
    query.execute(connection).await?;
    Ok(())
}

async fn run(connection: &mut SqliteConnection, now: i64, operation: Operation) -> Result<()> {
    // What this process remembers must not learn of changes that may be undone.
    let definitions = Arc::new(Definitions::all(connection).await?);
    let session = Session { now, definitions };
    match operation {
        Operation::CreateVersion { version, slug, shape } => {
            let wanted = FlowVersion { flow: shape.slug.clone(), version, slug, shape };
            match known(&session, &wanted) {
                None => insert(connection, &session, &wanted).await,
                Some(Ensured::Conflict(found)) => Err(refused(found.join("; ")).into()),
                Some(_) => Ok(()),
            }
        }
        Operation::SetFlowOptions { slug, options } => {
            let version = version(&session, &slug)?;
            let shape = FlowShape { options, ..version.shape.clone() };
            set_shape(connection, version, &shape).await
        }
        Operation::SetStepOptions { slug, step, options } => {
            let version = version(&session, &slug)?;
            set_shape(connection, version, &with_options(version, &step, options)?).await
        }
        Operation::DeleteVersion { slug } => match session.definitions.by_slug(&slug) {
            Some(version) => delete(connection, version).await,
            None => Ok(()),
        },
    }
}

fn version<'a>(session: &'a Session, slug: &str) -> Result<&'a Version, BackendError> {
    let version = session.definitions.by_slug(slug);
    version
        .map(|version| &**version)
        .ok_or_else(|| BackendError::UnknownFlow { flow: slug.to_owned() })
}

fn with_options(version: &Version, step: &str, options: StepOptions) -> Result<FlowShape> {
    let mut shape = version.shape.clone();
    let mut steps = shape.steps.iter_mut();
    let Some(found) = steps.find(|found| found.slug == step) else {
        return Err(broken(format!("flow `{}` has no step `{step}`", version.slug())));
    };
    found.options = options;
    Ok(shape)
}

async fn set_shape(
    connection: &mut SqliteConnection,
    version: &Version,
    shape: &FlowShape,
) -> Result<()> {
    let query = sqlx::query("update pgflow_flows set shape = ? where id = ?");
    let query = query.bind(shape.to_json().to_string()).bind(version.id);
    query.execute(&mut *connection).await?;
    change(connection).await
}

/// A version with all its runs.
const DELETE: [&str; 6] = [
    "delete from pgflow_tasks where step >> 16 in (select id from pgflow_runs where flow = ?)",
    "delete from pgflow_steps where id >> 16 in (select id from pgflow_runs where flow = ?)",
    "delete from pgflow_events where run in (select id from pgflow_runs where flow = ?)",
    "delete from pgflow_run_data where run in (select id from pgflow_runs where flow = ?)",
    "delete from pgflow_runs where flow = ?",
    "delete from pgflow_flows where id = ?",
];

async fn delete(connection: &mut SqliteConnection, version: &Version) -> Result<()> {
    for sql in DELETE {
        sqlx::query(sql).bind(version.id).execute(&mut *connection).await?;
    }
    change(connection).await
}
