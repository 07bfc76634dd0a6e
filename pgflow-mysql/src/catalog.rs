//! Versions of flows, as the database has them and this process remembers them.

use std::sync::{Arc, PoisonError, RwLock};

use pgflow_machine::{Catalog, FlowVersion, Timestamp, Version};
use pgflow_model::FlowShape;
use sqlx::MySqlConnection;

use crate::clock::now;
use crate::error::{Error, Result, broken};

const LOOK: &str = concat!("select ", now!(), ", changes from pgflow_definitions where id = 1");

const ALL: &str = "select id, slug, name, version, shape, interface from pgflow_flows";

/// A row of [`ALL`].
type Row = (i64, String, String, u32, String, Option<String>);

/// What this process remembers of the versions, and as of which change.
#[derive(Debug, Default)]
pub(crate) struct Known(RwLock<(Option<i64>, Arc<Catalog>)>);

impl Known {
    /// Reads the clock, and the versions if they have changed.
    pub(crate) async fn read(
        &self,
        connection: &mut MySqlConnection,
    ) -> Result<(Timestamp, Arc<Catalog>)> {
        let (now, changes) = look(connection).await?;
        let (known, catalog) = self.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        if known == Some(changes) {
            return Ok((now, catalog));
        }
        let catalog = Arc::new(all(connection).await?);
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        *known = (Some(changes), Arc::clone(&catalog));
        Ok((now, catalog))
    }
}

/// The clock, and how often the versions have changed.
async fn look(connection: &mut MySqlConnection) -> Result<(Timestamp, i64)> {
    let (now, changes) = sqlx::query_as(LOOK).fetch_one(connection).await?;
    Ok((Timestamp::from_micros(now), changes))
}

/// The clock, and all versions, without remembering them.
pub(crate) async fn fresh(connection: &mut MySqlConnection) -> Result<(Timestamp, Arc<Catalog>)> {
    let (now, _) = look(connection).await?;
    Ok((now, Arc::new(all(connection).await?)))
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
