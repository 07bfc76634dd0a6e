//! Flows and their queues.

use std::collections::HashMap;
use std::sync::Arc;

use pgflow_machine::{Version, bulk_until};
use serde_json::{Value, json};
use sqlx::SqliteConnection;

use crate::Sqlite;
use crate::definitions::{SPAN, queue};
use crate::error::{Result, broken};
use pgflow_backend::backend::{Definition, FlowRecord, QueueDepth};
use pgflow_backend::store::upkeep::{self, Depth, HeldByWorker, flow_record};

const CREATED: &str = "select id, created_at from pgflow_flows";

const DEFINITION: &str = "select created_at, input_schema from pgflow_flows where id = ?";

const IS_NOTED: &str =
    "select exists (select 1 from pgflow_flows where slug = ? and input_schema = ?)";

/// Per queue of a step: what is ready, what is delayed, since when the oldest is ready. What stands far back in time
/// (tasks of wide maps) is as old as its step.
const DEPTHS: &str = "
    select q.value,
           (select count(*) from pgflow_tasks t where t.queue = q.value and t.ready_at <= ?2),
           (select count(*) from pgflow_tasks t where t.queue = q.value and t.ready_at > ?2),
           (select min(t.ready_at) from pgflow_tasks t
             where t.queue = q.value and t.ready_at > ?3 and t.ready_at <= ?2),
           (select s.started_at from pgflow_tasks t join pgflow_steps s on s.id = t.step
             where t.queue = q.value and t.ready_at <= ?3 order by t.ready_at limit 1)
      from json_each(?1) q";

/// What workers have: never more than they have room for.
pub(crate) const HELD: &str = "
    select queue, worker, count(*) from pgflow_tasks where lost_at > 0 group by queue, worker";

pub(super) async fn flows(sqlite: &Sqlite) -> Result<Vec<FlowRecord>> {
    let mut session = sqlite.session(sqlite.connections.read().await?).await?;
    let created: Vec<(i64, i64)> =
        sqlx::query_as(CREATED).fetch_all(&mut *session.connection).await?;
    let created: HashMap<_, _> = created.into_iter().collect();
    let versions = session.catalog.of(&[] as &[&str]);
    let record = |version: &&Arc<Version>| {
        flow_record(&session.catalog, version, created.get(&version.id).copied())
    };
    Ok(versions.iter().map(record).collect())
}

pub(super) async fn definition(sqlite: &Sqlite, version: &str) -> Result<Option<Definition>> {
    let mut session = sqlite.session(sqlite.connections.read().await?).await?;
    let Some(version) = session.catalog.by_slug(version).cloned() else { return Ok(None) };
    let query = sqlx::query_as(DEFINITION).bind(version.id);
    let (created_at, schema): (i64, Option<String>) =
        query.fetch_one(&mut *session.connection).await?;
    let schema = schema.map(|text| serde_json::from_str(&text).map_err(broken)).transpose()?;
    Ok(Some(Definition {
        record: flow_record(&session.catalog, &version, Some(created_at)),
        shape: version.shape.clone(),
        input_schema: schema,
    }))
}

pub(super) async fn set_input_schema(sqlite: &Sqlite, version: &str, schema: &Value) -> Result<()> {
    let text = schema.to_string();
    let mut reading = sqlite.connections.read().await?;
    let is_noted = sqlx::query_scalar(IS_NOTED).bind(version).bind(&text).fetch_one(&mut *reading);
    let is_noted: bool = is_noted.await?;
    drop(reading);
    // Nearly always; then nobody is kept from writing.
    if is_noted {
        return Ok(());
    }
    let mut tx = sqlite.connections.begin().await?;
    sqlx::query("update pgflow_flows set input_schema = ? where slug = ?")
        .bind(&text)
        .bind(version)
        .execute(&mut *tx)
        .await?;
    Ok(tx.commit().await?)
}

/// What each queue of a step has lent to each worker.
pub(super) async fn held(connection: &mut SqliteConnection) -> Result<Vec<HeldByWorker>> {
    Ok(sqlx::query_as(HELD).fetch_all(connection).await?)
}

pub(super) async fn queues(sqlite: &Sqlite) -> Result<Vec<QueueDepth>> {
    let mut session = sqlite.session(sqlite.connections.read().await?).await?;
    let catalog = Arc::clone(&session.catalog);
    let versions = catalog.of(&[] as &[&str]);
    let steps = |version: &&Arc<Version>| {
        let version = Arc::clone(version);
        (0..version.plan.steps().len()).map(move |step| queue(&version, step))
    };
    let ids: Vec<i64> = versions.iter().flat_map(steps).collect();
    let edge = bulk_until(session.now).micros();
    let query = sqlx::query_as(DEPTHS).bind(json!(ids).to_string());
    let query = query.bind(session.now.micros()).bind(edge);
    let depths: Vec<Depth> = query.fetch_all(&mut *session.connection).await?;
    let held = held(&mut session.connection).await?;
    Ok(upkeep::queues(&versions, SPAN, session.now, &depths, &held))
}
