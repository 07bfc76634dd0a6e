//! Versions of flows, written.

use std::ops::DerefMut;
use std::sync::Arc;

use pgflow_backend::backend::BackendError;
use pgflow_backend::store::OpenWork;
use pgflow_machine::{FlowVersion, Plan, Timestamp, Version};
use pgflow_model::FlowMigration;
use pgflow_model::FlowShape;
use sqlx::MySqlConnection;

use crate::catalog;
use crate::error::Result;
use crate::session::MySqlSession;

const INSERT: &str = "
    insert into pgflow_flows (slug, name, version, shape, created_at) values (?, ?, ?, ?, ?)";

/// Says that versions are to be read again.
const CHANGE: &str = "update pgflow_definitions set changes = changes + 1 where id = 1";

const OPEN_RUNS: &str = "select count(*) from pgflow_runs where flow = ? and status = 'started'";

const OPEN_TASKS: &str = "
    select cast(coalesce(sum(s.remaining_tasks), 0) as unsigned), min(s.started_at)
      from pgflow_runs r
      straight_join pgflow_steps s force index (primary) on s.run = r.id and s.status = 'started'
     where r.flow = ? and r.status = 'started'";

/// What is a version's, the version itself last. Its runs are not tied to others any more.
const DELETE: &[&str] = &[
    "delete t from pgflow_runs r straight_join pgflow_tasks t force index (primary) on t.run = r.id where r.flow = ?",
    "delete s from pgflow_runs r straight_join pgflow_steps s force index (primary) on s.run = r.id where r.flow = ?",
    "delete e from pgflow_runs r straight_join pgflow_events e force index (primary) on e.run = r.id where r.flow = ?",
    "delete d from pgflow_runs r straight_join pgflow_run_data d force index (primary) on d.run = r.id where r.flow = ?",
    "delete c from pgflow_runs r straight_join pgflow_streams s force index (pgflow_streams_name) on s.run = r.id
       straight_join pgflow_stream_chunks c force index (primary) on c.stream = s.id where r.flow = ?",
    "delete w from pgflow_runs r straight_join pgflow_streams s force index (pgflow_streams_name) on s.run = r.id
       straight_join pgflow_stream_writers w force index (primary) on w.stream = s.id where r.flow = ?",
    "delete s from pgflow_runs r straight_join pgflow_streams s force index (pgflow_streams_name) on s.run = r.id
      where r.flow = ?",
    "delete h from pgflow_runs r straight_join pgflow_hooks h force index (pgflow_hooks_task) on h.run = r.id where r.flow = ?",
    "delete g from pgflow_runs r straight_join pgflow_signals g force index (pgflow_signals_run) on g.run = r.id where r.flow = ?",
    "delete from pgflow_runs where flow = ?",
    "delete from pgflow_flows where id = ?",
];

/// Steps are numbered by 16 bits.
const MOST_STEPS: usize = 1 << 16;

async fn change<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
) -> Result<()> {
    sqlx::query(CHANGE).execute(session.connection()).await?;
    session.catalog = Arc::new(catalog::all(session.connection()).await?);
    Ok(())
}

pub(crate) async fn insert<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    version: &FlowVersion,
) -> Result<()> {
    check(&version.shape)?;
    let shape = version.shape.normalized().to_json().to_string();
    let query = sqlx::query(INSERT).bind(&version.slug).bind(&version.flow).bind(version.version);
    let query = query.bind(shape).bind(session.now.micros());
    query.execute(session.connection()).await?;
    change(session).await
}

fn check(shape: &FlowShape) -> Result<(), BackendError> {
    Plan::new(shape).map_err(|why| BackendError::Refused(Box::new(why)))?;
    if shape.steps.len() > MOST_STEPS {
        let text = format!("a flow has at most {MOST_STEPS} steps");
        return Err(BackendError::Refused(text.into()));
    }
    Ok(())
}

pub(crate) async fn set_shape<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    version: &Version,
    shape: &FlowShape,
) -> Result<()> {
    let query = sqlx::query("update pgflow_flows set shape = ? where id = ?");
    let query = query.bind(shape.normalized().to_json().to_string()).bind(version.id);
    query.execute(session.connection()).await?;
    change(session).await
}

pub(crate) async fn set_interface<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    version: &Version,
    interface: &str,
) -> Result<()> {
    let query = sqlx::query("update pgflow_flows set interface = ? where id = ?");
    query.bind(interface).bind(version.id).execute(session.connection()).await?;
    change(session).await
}

pub(crate) async fn delete<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    version: &Version,
) -> Result<()> {
    for &delete in DELETE {
        sqlx::query(delete).bind(version.id).execute(session.connection()).await?;
    }
    change(session).await
}

pub(crate) async fn open_work<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    version: &Version,
) -> Result<OpenWork> {
    let query = sqlx::query_scalar(OPEN_RUNS).bind(version.id);
    let runs: i64 = query.fetch_one(session.connection()).await?;
    let query = sqlx::query_as(OPEN_TASKS).bind(version.id);
    let (tasks, since): (u64, Option<i64>) = query.fetch_one(session.connection()).await?;
    Ok(OpenWork { runs: runs.unsigned_abs(), tasks, since: since.map(Timestamp::from_micros) })
}

pub(crate) async fn applied<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    package: &str,
    name: &str,
) -> Result<Option<String>> {
    // Of two programs that apply the same, one waits here for the other.
    let sql =
        "select checksum from pgflow_flow_migrations where package = ? and name = ? for update";
    let query = sqlx::query_scalar(sql).bind(package).bind(name);
    Ok(query.fetch_optional(session.connection()).await?)
}

pub(crate) async fn record_applied<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    package: &str,
    file: &FlowMigration,
) -> Result<()> {
    let sql = "insert into pgflow_flow_migrations (package, name, checksum, applied_at) values (?, ?, ?, ?)";
    let query = sqlx::query(sql).bind(package).bind(file.name).bind(file.checksum);
    query.bind(session.now.micros()).execute(session.connection()).await?;
    Ok(())
}
