//! Versions of flows, as the database has them and this process remembers them.

use std::sync::{Arc, PoisonError, RwLock};

use pgflow_machine::{Catalog, FlowVersion, Timestamp, Version};
use pgflow_model::FlowShape;
use sqlx::MySqlConnection;

use crate::clock::now;
use crate::error::{Error, Result, broken};

/// The clock, how often the versions have changed, and whether there is anything to wake: then nobody else has to look.
const LOOK: &str = concat!(
    "select ",
    now!(),
    ", changes, exists (select 1 from pgflow_waits) or exists (select 1 from pgflow_awaited)
         or exists (select 1 from pgflow_signals where expires_at > 0)
       from pgflow_definitions where id = 1"
);

/// What a transaction begins with.
#[derive(Debug)]
pub(crate) struct Begun {
    pub(crate) now: Timestamp,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) has_waits: bool,
}

const ALL: &str = "select id, slug, name, version, shape, interface from pgflow_flows";

/// A row of [`ALL`].
type Row = (i64, String, String, u32, String, Option<String>);

/// What this process remembers of the versions, and as of which change.
#[derive(Debug, Default)]
pub(crate) struct Known(RwLock<(Option<i64>, Arc<Catalog>)>);

impl Known {
    /// Reads the clock, and the versions if they have changed.
    pub(crate) async fn read(&self, connection: &mut MySqlConnection) -> Result<Begun> {
        let (now, changes, has_waits) = look(connection).await?;
        let (known, catalog) = self.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        if known == Some(changes) {
            return Ok(Begun { now, catalog, has_waits });
        }
        let catalog = Arc::new(all(connection).await?);
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        *known = (Some(changes), Arc::clone(&catalog));
        Ok(Begun { now, catalog, has_waits })
    }
}

async fn look(connection: &mut MySqlConnection) -> Result<(Timestamp, i64, bool)> {
    let (now, changes, has_waits) = sqlx::query_as(LOOK).fetch_one(connection).await?;
    Ok((Timestamp::from_micros(now), changes, has_waits))
}

/// The clock, and all versions, without remembering them.
pub(crate) async fn fresh(connection: &mut MySqlConnection) -> Result<Begun> {
    let (now, _, has_waits) = look(connection).await?;
    Ok(Begun { now, catalog: Arc::new(all(connection).await?), has_waits })
}

/// Reads all versions.
pub(crate) async fn all(connection: &mut MySqlConnection) -> Result<Catalog> {
    let rows: Vec<Row> = sqlx::query_as(ALL).fetch_all(connection).await?;
    let versions = rows.into_iter().map(version).collect::<Result<Vec<_>>>()?;
    Ok(Catalog::new(versions))
}

fn version((id, slug, flow, version, shape, interface): Row) -> Result<Version> {
    let json = serde_json::from_str(&shape).map_err(|why| unreadable(&slug, &why))?;
    let shape = FlowShape::from_json(&slug, &json).map_err(|why| unreadable(&slug, &why))?;
    let flow = FlowVersion { flow, version, slug: slug.clone(), shape };
    Version::new(id, flow, interface).map_err(|why| unreadable(&slug, &why))
}

fn unreadable(slug: &str, why: &dyn std::fmt::Display) -> Error {
    broken(format!("the definition of flow `{slug}` cannot be read: {why}"))
}
