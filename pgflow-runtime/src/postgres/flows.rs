//! Versions of flows, and what payloads may be.

use std::time::Duration;

use pgflow_machine::Limits;
use serde_json::Value;
use sqlx::Row;
use sqlx::postgres::PgRow;

use super::engine::Lane;
use super::error::{code, translate};
use super::open::Postgres;
use crate::backend::{BackendError, Ensured, FlowVersion, KnownVersion};

const ENSURE: &str = "select answer ->> 'status' as status,
       array(select jsonb_array_elements_text(answer -> 'differences')) as differences,
       case when answer ->> 'status' = 'mismatch' then pgflow._get_flow_shape($1) -> 'steps' end as steps
  from pgflow.ensure_flow_compiled($1, $2) answer";
const VERSIONS: &str = "select flow_name, version, flow_slug, is_current, open_runs, open_tasks,
       extract(epoch from clock_timestamp() - oldest_at)::float8 as oldest
  from pgflow.get_flow_versions($1)";
const ADD: &str = "select from pgflow.add_flow_version($1, $2, $3)";
const LIMITS: &str = "select max_payload_bytes, max_depth, max_fanout from pgflow.limits";

impl Postgres {
    pub(super) async fn read_limits(&self) -> Result<Limits, BackendError> {
        let rows = match self.engine.ask(Lane::Client, || sqlx::query(LIMITS)).await {
            // Roles that only work or start runs cannot read tables; the core checks all the same.
            Err(error) if code(&error).as_deref() == Some("42501") => return Ok(Limits::default()),
            answer => answer.map_err(translate)?,
        };
        let number = |column| -> Result<usize, BackendError> {
            let number: i32 = rows[0].try_get(column).map_err(translate)?;
            Ok(usize::try_from(number).unwrap_or(0))
        };
        Ok(Limits {
            max_bytes: number("max_payload_bytes")?,
            max_depth: number("max_depth")?,
            max_fanout: number("max_fanout")?,
        })
    }

    pub(super) async fn ensure(&self, version: &FlowVersion) -> Result<Ensured, BackendError> {
        let shape = version.shape.normalized().to_json();
        let statement = || sqlx::query(ENSURE).bind(&version.slug).bind(&shape);
        let rows = match self.engine.ask(Lane::Client, statement).await {
            // A worker may compare, and not create.
            Err(error) if code(&error).as_deref() == Some("42501") => {
                return Err(BackendError::UnknownFlow { flow: version.slug.clone() });
            }
            answer => answer.map_err(translate)?,
        };
        let is_new = match compare(&rows[0], &shape).map_err(translate)? {
            Ensured::Conflict(differences) => return Ok(Ensured::Conflict(differences)),
            ensured => ensured == Ensured::Created,
        };
        self.ensure_version(version, is_new).await
    }

    /// Makes new runs of the flow use it, if its number is the highest.
    async fn ensure_version(
        &self,
        version: &FlowVersion,
        is_new: bool,
    ) -> Result<Ensured, BackendError> {
        let known = self.read_versions(&[&version.flow]).await?;
        let same = |known: &&KnownVersion| known.slug == version.slug;
        if known.iter().find(same).is_some_and(|known| known.version == version.version) {
            return Ok(if is_new { Ensured::Created } else { Ensured::Same });
        }
        let number = super::claim::int(version.version);
        let statement = || sqlx::query(ADD).bind(&version.flow).bind(number).bind(&version.slug);
        match self.engine.ask(Lane::Client, statement).await {
            Ok(_) => Ok(Ensured::Created),
            Err(error) if code(&error).as_deref() == Some("23505") => {
                let text = error.as_database_error().map(|error| error.message().to_owned());
                Ok(Ensured::Conflict(text.into_iter().collect()))
            }
            Err(error) => Err(translate(error)),
        }
    }

    pub(super) async fn read_versions(
        &self,
        flows: &[&str],
    ) -> Result<Vec<KnownVersion>, BackendError> {
        let statement = || sqlx::query(VERSIONS).bind(flows);
        let rows = self.engine.ask(Lane::Client, statement).await.map_err(translate)?;
        rows.iter().map(known).collect::<Result<_, _>>().map_err(translate)
    }
}

fn compare(row: &PgRow, shape: &Value) -> Result<Ensured, sqlx::Error> {
    Ok(match row.try_get("status")? {
        "compiled" => Ensured::Created,
        "verified" => Ensured::Same,
        _ if is_same_graph(shape, row.try_get("steps")?) => Ensured::Same,
        _ => Ensured::Conflict(row.try_get("differences")?),
    })
}

/// The core compares steps one by one; the same graph may have been created in another order.
fn is_same_graph(shape: &Value, stored: Option<Value>) -> bool {
    let steps = |steps: &Value| {
        let mut steps = steps.as_array().cloned().unwrap_or_default();
        for step in steps.iter_mut().filter_map(Value::as_object_mut) {
            step.remove("options");
        }
        steps.sort_by_key(|step| step["slug"].to_string());
        steps
    };
    stored.is_some_and(|stored| steps(&stored) == steps(&shape["steps"]))
}

fn known(row: &PgRow) -> Result<KnownVersion, sqlx::Error> {
    let number = |column| row.try_get::<i64, _>(column).map(i64::unsigned_abs);
    let oldest: Option<f64> = row.try_get("oldest")?;
    Ok(KnownVersion {
        flow: row.try_get("flow_name")?,
        version: row.try_get::<i32, _>("version")?.unsigned_abs(),
        slug: row.try_get("flow_slug")?,
        is_current: row.try_get("is_current")?,
        open_runs: number("open_runs")?,
        open_tasks: number("open_tasks")?,
        oldest: oldest.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
    })
}
