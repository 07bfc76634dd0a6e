//! Tables, views and types of the schema with their parts, and how they differ from what was
//! installed.

use std::collections::BTreeMap;

use sqlx::PgConnection;

use super::bookkeeping::RELATIONS;
use super::error::{Doing, MigrateError, Problem};

/// What an object is, under its readable name.
pub(super) type Relations = BTreeMap<String, Definition>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Definition {
    /// The table or view it is a part of.
    parent: Option<String>,
    text: String,
}

const HAS_RECORD: &str = "select pg_catalog.to_regclass('pgflow.migration_relations') is not null";

/// Nothing, if the library that installed the core did not record them yet.
pub(super) async fn recorded(connection: &mut PgConnection) -> Result<Relations, MigrateError> {
    let has_record: bool = sqlx::query_scalar(HAS_RECORD)
        .persistent(false)
        .fetch_one(&mut *connection)
        .await
        .doing("look for the record of relations")?;
    if !has_record {
        return Ok(Relations::new());
    }
    read(connection, "select object, parent, definition from pgflow.migration_relations").await
}

/// As they are now.
pub(super) async fn found(connection: &mut PgConnection) -> Result<Relations, MigrateError> {
    read(connection, RELATIONS).await
}

async fn read(
    connection: &mut PgConnection,
    query: &'static str,
) -> Result<Relations, MigrateError> {
    let rows: Vec<(String, Option<String>, String)> = sqlx::query_as(query)
        .persistent(false)
        .fetch_all(connection)
        .await
        .doing("read the installed relations")?;
    Ok(rows
        .into_iter()
        .map(|(object, parent, text)| (object, Definition { parent, text }))
        .collect())
}

/// All differences, except for indexes of the users' own.
pub(super) fn changed_relations(recorded: &Relations, found: &Relations) -> Vec<Problem> {
    if recorded.is_empty() {
        return Vec::new();
    }
    let changed = recorded.iter().filter_map(|(object, installed)| {
        let found = found.get(object).filter(|found| found.text != installed.text)?;
        let (object, installed) = (object.clone(), installed.text.clone());
        Some(Problem::Object { object, installed, found: found.text.clone() })
    });
    let missing = lacking(found, recorded).map(Problem::MissingObject);
    let is_index = |object: &String| object.starts_with("index ");
    let added = lacking(recorded, found).filter(|object| !is_index(object));
    changed.chain(missing).chain(added.map(Problem::AddedObject)).collect()
}

/// What is in `there` only; a table that is lacking stands for all its parts.
fn lacking<'a>(here: &'a Relations, there: &'a Relations) -> impl Iterator<Item = String> + 'a {
    let has_parent = |definition: &Definition| {
        definition.parent.as_ref().is_none_or(|parent| here.contains_key(parent))
    };
    there
        .iter()
        .filter(move |(object, definition)| !here.contains_key(*object) && has_parent(definition))
        .map(|(object, _)| object.clone())
}
