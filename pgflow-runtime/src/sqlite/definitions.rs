//! Versions of flows, as the database has them and this process remembers them.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use pgflow_machine::Plan;
use pgflow_model::FlowShape;
use sqlx::SqliteConnection;

use super::error::{Result, broken};
use crate::backend::BackendError;

/// Steps of a run and queues of a flow are numbered within this many.
pub(super) const SPAN: i64 = 1 << 16;

/// A version of a flow.
#[derive(Debug)]
pub(super) struct Version {
    pub(super) id: i64,
    pub(super) name: String,
    pub(super) number: u32,
    pub(super) shape: FlowShape,
    pub(super) plan: Plan,
}

impl Version {
    pub(super) fn slug(&self) -> &Arc<str> {
        self.plan.slug()
    }

    /// The queue of a step.
    pub(super) fn queue(&self, step: usize) -> i64 {
        self.id * SPAN + place(step)
    }
}

/// A step's number, as it is in ids.
pub(super) fn place(step: usize) -> i64 {
    i64::try_from(step).unwrap_or(i64::MAX)
}

/// The step's number in an id.
pub(super) fn step_in(id: i64) -> usize {
    usize::try_from(id.rem_euclid(SPAN)).unwrap_or_default()
}

/// All versions, at one moment.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    changes: Option<i64>,
    versions: HashMap<i64, Arc<Version>>,
    slugs: HashMap<Arc<str>, i64>,
}

/// A row of `pgflow_flows`.
type Row = (i64, String, String, u32, String);

impl Definitions {
    /// Reads all of them.
    pub(super) async fn all(connection: &mut SqliteConnection) -> Result<Self> {
        let all = "select id, slug, name, version, shape from pgflow_flows";
        Self::new(sqlx::query_as(all).fetch_all(connection).await?)
    }

    /// Reads the newest version of one flow.
    pub(super) async fn newest_of(connection: &mut SqliteConnection, name: &str) -> Result<Self> {
        let newest = "select id, slug, name, version, shape from pgflow_flows
            where name = ? order by version desc limit 1";
        Self::new(sqlx::query_as(newest).bind(name).fetch_all(connection).await?)
    }

    fn new(rows: Vec<Row>) -> Result<Self> {
        let versions = rows.into_iter().map(version).collect::<Result<Vec<_>>>()?;
        let slugs = versions.iter().map(|version| (version.slug().clone(), version.id)).collect();
        let versions = versions.into_iter().map(|version| (version.id, version)).collect();
        Ok(Self { changes: None, versions, slugs })
    }

    pub(super) fn by_slug(&self, slug: &str) -> Option<&Arc<Version>> {
        self.versions.get(self.slugs.get(slug)?)
    }

    pub(super) fn by_id(&self, id: i64) -> Result<&Arc<Version>> {
        self.versions.get(&id).ok_or_else(|| broken(format!("there is no flow of id {id}")))
    }

    /// The version that new runs use.
    pub(super) fn newest(&self, name: &str) -> Result<&Arc<Version>, BackendError> {
        let versions = self.versions.values().filter(|version| version.name == name);
        versions
            .max_by_key(|version| version.number)
            .ok_or_else(|| BackendError::UnknownFlow { flow: name.to_owned() })
    }

    /// All versions of these flows, or of all if none is named.
    pub(super) fn of(&self, names: &[impl AsRef<str>]) -> Vec<&Arc<Version>> {
        let is_asked =
            |version: &&Arc<Version>| names.iter().any(|name| name.as_ref() == version.name);
        let all = self.versions.values();
        let mut found: Vec<_> =
            all.filter(|version| names.is_empty() || is_asked(version)).collect();
        found.sort_by(|a, b| (&a.name, a.number).cmp(&(&b.name, b.number)));
        found
    }
}

fn version((id, slug, name, number, shape): Row) -> Result<Arc<Version>> {
    let json = serde_json::from_str(&shape).map_err(|why| unreadable(&slug, &why))?;
    let shape = FlowShape::from_json(&slug, &json).map_err(|why| unreadable(&slug, &why))?;
    let plan = Plan::new(&shape).map_err(|why| unreadable(&slug, &why))?;
    Ok(Arc::new(Version { id, name, number, shape, plan }))
}

fn unreadable(slug: &str, why: &dyn std::fmt::Display) -> super::error::Error {
    broken(format!("the definition of flow `{slug}` cannot be read: {why}"))
}

/// What this process remembers of the definitions.
#[derive(Debug, Default)]
pub(super) struct Memory(RwLock<Arc<Definitions>>);

/// A transaction's moment and definitions.
#[derive(Clone, Debug)]
pub(super) struct Session {
    pub(super) now: i64,
    pub(super) definitions: Arc<Definitions>,
}

impl Memory {
    /// Reads the clock, and the definitions if they have changed.
    pub(super) async fn session(&self, connection: &mut SqliteConnection) -> Result<Session> {
        let query = "select cast(round(unixepoch('subsec') * 1e3) as integer) * 1000, changes
            from pgflow_definitions";
        let (now, changes) = sqlx::query_as(query).fetch_one(&mut *connection).await?;
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        if known.changes == Some(changes) {
            return Ok(Session { now, definitions: known });
        }
        let all = Definitions::all(connection).await?;
        let definitions = Arc::new(Definitions { changes: Some(changes), ..all });
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = definitions.clone();
        Ok(Session { now, definitions })
    }
}
