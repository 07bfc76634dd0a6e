//! Flows and their queues.

use std::collections::HashMap;

use pgflow_machine::{Version, bulk_until};
use serde_json::Value;
use sqlx::AssertSqlSafe;

use crate::MySql;
use crate::claim::{SPAN, queue};
use crate::connections::PooledConnection;
use crate::error::{Result, broken};
use crate::session::MySqlSession;
use pgflow_backend::backend::{Definition, FlowRecord, QueueDepth};
use pgflow_backend::store::upkeep::{self, Depth, flow_record};

const CREATED: &str = "select id, created_at from pgflow_flows";

const DEFINITION: &str = "select created_at, input_schema from pgflow_flows where id = ?";

const IS_NOTED: &str = "select count(*) from pgflow_flows where slug = ? and input_schema = ?";

/// Of a step's queue: what is ready, what is delayed, since when the oldest is ready. What stands far back in time (tasks of wide
/// maps) is as old as its step.
const DEPTH: &str = "(select cast(? as signed), \
    (select count(*) from pgflow_tasks t where t.queue = ? and t.ready_at <= ?), \
    (select count(*) from pgflow_tasks t where t.queue = ? and t.ready_at > ?), \
    (select min(t.ready_at) from pgflow_tasks t where t.queue = ? and t.ready_at > ? and t.ready_at <= ?), \
    (select s.started_at from pgflow_tasks t join pgflow_steps s on s.run = t.run and s.step = t.step \
      where t.queue = ? and t.ready_at <= ? order by t.ready_at limit 1))";

/// What workers have: never more than they have room for.
const HELD: &str = "
    select queue, worker, count(*) from pgflow_tasks force index (pgflow_tasks_lost)
     where lost_at > 0 and worker is not null group by queue, worker";

pub(super) async fn flows(mysql: &MySql) -> Result<Vec<FlowRecord>> {
    let mut session = mysql.reading().await?;
    let created: Vec<(i64, i64)> = sqlx::query_as(CREATED).fetch_all(session.connection()).await?;
    let created: HashMap<_, _> = created.into_iter().collect();
    let versions = session.catalog.of(&[] as &[&str]);
    let created_at = |version: &Version| created.get(&version.id).copied();
    Ok(versions
        .into_iter()
        .map(|version| flow_record(&session.catalog, version, created_at(version)))
        .collect())
}

pub(super) async fn definition(mysql: &MySql, version: &str) -> Result<Option<Definition>> {
    let mut session = mysql.reading().await?;
    let Some(version) = session.catalog.by_slug(version).cloned() else { return Ok(None) };
    let query = sqlx::query_as(DEFINITION).bind(version.id);
    let (created_at, schema): (i64, Option<String>) = query.fetch_one(session.connection()).await?;
    let schema = schema.map(|text| serde_json::from_str(&text).map_err(broken)).transpose()?;
    Ok(Some(Definition {
        record: flow_record(&session.catalog, &version, Some(created_at)),
        shape: version.shape.clone(),
        input_schema: schema,
    }))
}

pub(super) async fn set_input_schema(mysql: &MySql, version: &str, schema: &Value) -> Result<()> {
    let mut session = mysql.reading().await?;
    let text = schema.to_string();
    let query = sqlx::query_scalar(IS_NOTED).bind(version).bind(&text);
    let noted: i64 = query.fetch_one(session.connection()).await?;
    // Nearly always.
    if noted > 0 {
        return Ok(());
    }
    let query = sqlx::query("update pgflow_flows set input_schema = ? where slug = ?");
    query.bind(&text).bind(version).execute(session.connection()).await?;
    Ok(())
}

/// What each queue of a step has lent to each worker.
pub(super) async fn held(
    session: &mut MySqlSession<PooledConnection>,
) -> Result<Vec<upkeep::HeldByWorker>> {
    Ok(sqlx::query_as(HELD).fetch_all(session.connection()).await?)
}

pub(super) async fn queues(mysql: &MySql) -> Result<Vec<QueueDepth>> {
    let mut session = mysql.reading().await?;
    let catalog = session.catalog.clone();
    let versions = catalog.of(&[] as &[&str]);
    let steps = |version: &Version| {
        let steps = 0..version.plan.steps().len();
        steps.map(|step| queue(version, step)).collect::<Vec<_>>()
    };
    let ids: Vec<i64> = versions.iter().flat_map(|version| steps(version)).collect();
    let depths = depths(&mut session, &ids).await?;
    let lent = held(&mut session).await?;
    Ok(upkeep::queues(&versions, SPAN, session.now, &depths, &lent))
}

/// What waits, by step.
async fn depths(
    session: &mut MySqlSession<PooledConnection>,
    queues: &[i64],
) -> Result<Vec<Depth>> {
    if queues.is_empty() {
        return Ok(Vec::new());
    }
    let (now, edge) = (session.now.micros(), bulk_until(session.now).micros());
    let sql = vec![DEPTH; queues.len()].join(" union all ");
    let mut query = sqlx::query_as(AssertSqlSafe(sql));
    for queue in queues {
        query = query.bind(queue).bind(queue).bind(now).bind(queue).bind(now);
        query = query.bind(queue).bind(edge).bind(now).bind(queue).bind(edge);
    }
    Ok(query.fetch_all(session.connection()).await?)
}
