//! Versions of flows, as the database has them and this process remembers them.

use std::sync::{Arc, PoisonError, RwLock};

use pgflow_machine::{Catalog, FlowVersion, RunId, Version};
use pgflow_model::FlowShape;
use sqlx::SqliteConnection;

use super::clock::ClockWatch;
use super::error::{Result, broken};
use super::session::{Conn, SqliteSession};
use pgflow_backend::backend::BackendError;
use pgflow_model::FlowMigration;

/// Steps of a run and queues of a flow are numbered within this many.
pub(super) const SPAN: i64 = 1 << 16;

/// The queue of a step.
pub(super) fn queue(version: &Version, step: usize) -> i64 {
    version.id * SPAN + place(step)
}

/// A step's number, as it is in ids.
pub(super) fn place(step: usize) -> i64 {
    i64::try_from(step).unwrap_or(i64::MAX)
}

/// The step's number in an id.
pub(super) fn step_in(id: i64) -> usize {
    usize::try_from(id.rem_euclid(SPAN)).unwrap_or_default()
}

/// A row of `pgflow_flows`.
type Row = (i64, String, String, u32, String, Option<String>);

/// Reads all versions.
pub(super) async fn all(connection: &mut SqliteConnection) -> Result<Catalog> {
    let all = "select id, slug, name, version, shape, interface from pgflow_flows";
    catalog(sqlx::query_as(all).fetch_all(connection).await?)
}

/// Reads what is needed to start this run.
pub(super) async fn to_start(
    connection: &mut SqliteConnection,
    flow: &str,
    run: RunId,
) -> Result<Catalog> {
    let versions = "select id, slug, name, version, shape, interface from pgflow_flows
         where name = ?1 or slug = ?1 or id = (select flow from pgflow_runs where run_id = ?2)";
    catalog(sqlx::query_as(versions).bind(flow).bind(run.0).fetch_all(connection).await?)
}

fn catalog(rows: Vec<Row>) -> Result<Catalog> {
    Ok(Catalog::new(rows.into_iter().map(version).collect::<Result<Vec<_>>>()?))
}

fn version((id, slug, flow, version, shape, interface): Row) -> Result<Version> {
    let unreadable = |why: &dyn std::fmt::Display| {
        broken(format!("the definition of flow `{slug}` cannot be read: {why}"))
    };
    let json = serde_json::from_str(&shape).map_err(|why| unreadable(&why))?;
    let shape = FlowShape::from_json(&slug, &json).map_err(|why| unreadable(&why))?;
    let known = FlowVersion { flow, version, slug: slug.clone(), shape };
    Version::new(id, known, interface).map_err(|why| unreadable(&why))
}

/// What this process remembers of the definitions.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// How many changes it has seen, and what they have led to.
    catalog: RwLock<(Option<i64>, Arc<Catalog>)>,
    clock: ClockWatch,
}

impl Known {
    /// Reads the clock, and the definitions if they have changed.
    pub(super) async fn look(
        &self,
        connection: &mut SqliteConnection,
    ) -> Result<(i64, Arc<Catalog>)> {
        let query = "select cast(round(unixepoch('subsec') * 1e3) as integer) * 1000, changes
            from pgflow_definitions";
        let (now, changes) = sqlx::query_as(query).fetch_one(&mut *connection).await?;
        self.clock.read(now);
        let known = self.catalog.read().unwrap_or_else(PoisonError::into_inner).clone();
        if known.0 == Some(changes) {
            return Ok((now, known.1));
        }
        let catalog = Arc::new(all(connection).await?);
        let known = (Some(changes), Arc::clone(&catalog));
        *self.catalog.write().unwrap_or_else(PoisonError::into_inner) = known;
        Ok((now, catalog))
    }
}

/// Says that definitions are to be read again. This process must not remember changes that may be undone.
async fn change<C: Conn>(session: &mut SqliteSession<C>) -> Result<()> {
    let count = "update pgflow_definitions set changes = changes + 1";
    sqlx::query(count).execute(&mut *session.connection).await?;
    session.catalog = Arc::new(all(&mut session.connection).await?);
    Ok(())
}

pub(super) async fn insert<C: Conn>(
    session: &mut SqliteSession<C>,
    wanted: &FlowVersion,
) -> Result<()> {
    check(wanted)?;
    let insert = "insert into pgflow_flows (slug, name, version, shape, created_at)
        values (?, ?, ?, ?, ?)";
    sqlx::query(insert)
        .bind(&wanted.slug)
        .bind(&wanted.flow)
        .bind(wanted.version)
        .bind(wanted.shape.normalized().to_json().to_string())
        .bind(session.now.micros())
        .execute(&mut *session.connection)
        .await?;
    change(session).await
}

fn check(wanted: &FlowVersion) -> Result<(), BackendError> {
    Version::new(0, wanted.clone(), None).map_err(|why| BackendError::Refused(Box::new(why)))?;
    if place(wanted.shape.steps.len()) > SPAN {
        let text = format!("a flow has at most {SPAN} steps");
        return Err(BackendError::Refused(text.into()));
    }
    Ok(())
}

pub(super) async fn set_shape<C: Conn>(
    session: &mut SqliteSession<C>,
    version: &Version,
    shape: &FlowShape,
) -> Result<()> {
    let query = sqlx::query("update pgflow_flows set shape = ? where id = ?");
    let query = query.bind(shape.to_json().to_string()).bind(version.id);
    query.execute(&mut *session.connection).await?;
    change(session).await
}

pub(super) async fn set_interface<C: Conn>(
    session: &mut SqliteSession<C>,
    version: &Version,
    interface: &str,
) -> Result<()> {
    let update = "update pgflow_flows set interface = ? where id = ?";
    let query = sqlx::query(update).bind(interface).bind(version.id);
    query.execute(&mut *session.connection).await?;
    change(session).await
}

/// A version with all its runs, which are not tied to others any more.
const DELETE: [&str; 11] = [
    "delete from pgflow_tasks where step >> 16 in (select id from pgflow_runs where flow = ?)",
    "delete from pgflow_steps where id >> 16 in (select id from pgflow_runs where flow = ?)",
    "delete from pgflow_events where run in (select id from pgflow_runs where flow = ?)",
    "delete from pgflow_run_data where run in (select id from pgflow_runs where flow = ?)",
    "delete from pgflow_stream_chunks where stream in (
       select s.id from pgflow_runs r cross join pgflow_streams s on s.run_id = r.run_id where r.flow = ?)",
    "delete from pgflow_stream_writers where stream in (
       select s.id from pgflow_runs r cross join pgflow_streams s on s.run_id = r.run_id where r.flow = ?)",
    "delete from pgflow_streams where run_id in (select run_id from pgflow_runs where flow = ?)",
    "delete from pgflow_hooks where run_id in (select run_id from pgflow_runs where flow = ?)",
    "delete from pgflow_signals where run_id in (select run_id from pgflow_runs where flow = ?)",
    "delete from pgflow_runs where flow = ?",
    "delete from pgflow_flows where id = ?",
];

pub(super) async fn delete<C: Conn>(
    session: &mut SqliteSession<C>,
    version: &Version,
) -> Result<()> {
    for sql in DELETE {
        sqlx::query(sql).bind(version.id).execute(&mut *session.connection).await?;
    }
    change(session).await
}

pub(super) async fn applied<C: Conn>(
    session: &mut SqliteSession<C>,
    package: &str,
    name: &str,
) -> Result<Option<String>> {
    let sql = "select checksum from pgflow_flow_migrations where package = ? and name = ?";
    let query = sqlx::query_scalar(sql).bind(package).bind(name);
    Ok(query.fetch_optional(&mut *session.connection).await?)
}

pub(super) async fn record_applied<C: Conn>(
    session: &mut SqliteSession<C>,
    package: &str,
    file: &FlowMigration,
) -> Result<()> {
    let sql = "insert into pgflow_flow_migrations (package, name, checksum, applied_at)
        values (?, ?, ?, ?)";
    let query = sqlx::query(sql).bind(package).bind(file.name).bind(file.checksum);
    query.bind(session.now.micros()).execute(&mut *session.connection).await?;
    Ok(())
}
