//! Versions of flows, and what payloads may be.

use std::time::Duration;

use pgflow_machine::Limits;
use pgflow_model::{FlowShape, differences};
use serde_json::Value;
use sqlx::Row;
use sqlx::postgres::PgRow;

use super::batch::all_without_nul;
use super::engine::Lane;
use super::error::{code, translate};
use super::open::Postgres;
use pgflow_backend::backend::{BackendError, Ensured, FlowVersion, KnownVersion};

const ENSURE: &str = "select answer ->> 'status' as status,
       case when answer ->> 'status' = 'mismatch' then pgflow._get_flow_shape($1) end as stored
  from pgflow.ensure_flow_compiled($1, $2) answer";
const VERSIONS: &str = "select flow_name, version, flow_slug, is_current, open_runs, open_tasks,
       extract(epoch from clock_timestamp() - oldest_at)::float8 as oldest
  from pgflow.get_flow_versions($1)";
const ADD: &str = "select from pgflow.add_flow_version($1, $2, $3)";
const INTERFACE: &str = "select pgflow.set_flow_interface($1, $2)";
const LIMITS: &str = "select max_payload_bytes, max_depth, max_fanout from pgflow.limits";

impl Postgres {
    pub(super) async fn note_interface(
        &self,
        version: &str,
        interface: &str,
    ) -> Result<(), BackendError> {
        let statement = || sqlx::query(INTERFACE).bind(version).bind(interface);
        self.engine.ask(Lane::Client, statement).await.map(drop).map_err(translate)
    }

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
        let is_new = match compare(&rows[0], version).map_err(translate)? {
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
        let flows = all_without_nul(flows);
        let statement = || sqlx::query(VERSIONS).bind(&flows);
        let rows = self.engine.ask(Lane::Client, statement).await.map_err(translate)?;
        rows.iter().map(known).collect::<Result<_, _>>().map_err(translate)
    }
}

/// The core compares steps one by one, in the order of their creation; what counts is whether it is the same graph.
fn compare(row: &PgRow, wanted: &FlowVersion) -> Result<Ensured, sqlx::Error> {
    match row.try_get("status")? {
        "compiled" => return Ok(Ensured::Created),
        "verified" => return Ok(Ensured::Same),
        _ => {}
    }
    let stored: Value = row.try_get("stored")?;
    let stored = FlowShape::from_json(&wanted.slug, &stored)
        .map_err(|error| sqlx::Error::Decode(error.into()))?;
    let found = differences(&stored, &wanted.shape);
    Ok(if found.is_empty() { Ensured::Same } else { Ensured::Conflict(found) })
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
