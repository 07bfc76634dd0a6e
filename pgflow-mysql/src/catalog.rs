//! Versions of flows, as the database has them and this process remembers them.

use std::sync::{Arc, PoisonError, RwLock};

use pgflow_machine::{Catalog, FlowVersion, Timestamp, Version};
use pgflow_model::FlowShape;
use sqlx::MySqlConnection;

use crate::clock::now;
use crate::error::{Error, Result, broken};
use crate::settings::Settings;

/// The clock, how often the versions have changed, whether there is anything to wake (then nobody else has to look), and how
/// much the session takes at once.
const LOOK: &str = concat!(
    "select ",
    now!(),
    ", changes, exists (select 1 from pgflow_waits) or exists (select 1 from pgflow_awaited)
         or exists (select 1 from pgflow_signals where expires_at > 0),
         cast(@@session.max_allowed_packet as unsigned)
       from pgflow_definitions where id = 1"
);

/// What a transaction begins with.
#[derive(Debug)]
pub(crate) struct Begun {
    pub(crate) now: Timestamp,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) has_waits: bool,
    pub(crate) settings: Settings,
}

/// What [`LOOK`] sees.
struct Looked {
    now: Timestamp,
    changes: i64,
    has_waits: bool,
    settings: Settings,
}

impl Looked {
    fn with(self, catalog: Arc<Catalog>) -> Begun {
        let Self { now, has_waits, settings, .. } = self;
        Begun { now, catalog, has_waits, settings }
    }
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
        let looked = look(connection).await?;
        let (known, catalog) = self.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        if known == Some(looked.changes) {
            return Ok(looked.with(catalog));
        }
        let catalog = Arc::new(all(connection).await?);
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        *known = (Some(looked.changes), Arc::clone(&catalog));
        Ok(looked.with(catalog))
    }
}

async fn look(connection: &mut MySqlConnection) -> Result<Looked> {
    let (now, changes, has_waits, packet) = sqlx::query_as(LOOK).fetch_one(connection).await?;
    let (now, settings) = (Timestamp::from_micros(now), Settings::of_packet(packet));
    Ok(Looked { now, changes, has_waits, settings })
}

/// The clock, and all versions, without remembering them.
pub(crate) async fn fresh(connection: &mut MySqlConnection) -> Result<Begun> {
    let looked = look(connection).await?;
    Ok(looked.with(Arc::new(all(connection).await?)))
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
