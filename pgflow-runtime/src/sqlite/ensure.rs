//! Registering versions of flows.

use pgflow_machine::Plan;
use pgflow_model::{Change, Edit, FlowShape, Part, changes};
use sqlx::SqliteConnection;

use super::Sqlite;
use super::definitions::{SPAN, Session, Version, place};
use super::error::Result;
use crate::backend::{BackendError, Ensured, FlowVersion};

pub(super) async fn ensure_flow(sqlite: &Sqlite, wanted: &FlowVersion) -> Result<Ensured> {
    let mut reading = sqlite.connections.read().await?;
    let session = sqlite.memory.session(&mut reading).await?;
    drop(reading);
    if let Some(known) = known(&session, wanted) {
        return Ok(known);
    }
    let mut tx = sqlite.connections.begin().await?;
    let session = sqlite.memory.session(&mut tx).await?;
    if let Some(known) = known(&session, wanted) {
        return Ok(known);
    }
    insert(&mut tx, &session, wanted).await?;
    tx.commit().await?;
    Ok(Ensured::Created)
}

/// What is there under this name or number.
pub(super) fn known(session: &Session, wanted: &FlowVersion) -> Option<Ensured> {
    let FlowVersion { flow, version, slug, .. } = wanted;
    if let Some(known) = session.definitions.by_slug(slug) {
        return Some(compare(known, wanted));
    }
    let versions = session.definitions.of(&[flow]);
    let taken = versions.into_iter().find(|known| known.number == *version)?;
    let text = format!("version {version} of flow `{flow}` is `{}`, not `{slug}`", taken.slug());
    Some(Ensured::Conflict(vec![text]))
}

fn compare(known: &Version, wanted: &FlowVersion) -> Ensured {
    let mut found = Vec::new();
    if (&known.name, known.number) != (&wanted.flow, wanted.version) {
        found.push(format!(
            "`{}` is version {} of flow `{}`, not version {} of `{}`",
            wanted.slug, known.number, known.name, wanted.version, wanted.flow
        ));
    }
    let differs = |change: &Change| {
        let part = |part| matches!(part, Part::Setting(_) | Part::Type);
        !matches!(change.edit, Edit::Changed { part: changed, .. } if part(changed))
    };
    let wanted = without_renames(&wanted.shape);
    let changes = changes(&known.shape, &wanted).into_iter().filter(differs);
    found.extend(changes.map(|change| change.to_string()));
    if found.is_empty() { Ensured::Same } else { Ensured::Conflict(found) }
}

/// What a step was called in the version before says nothing about this one.
fn without_renames(shape: &FlowShape) -> FlowShape {
    let mut shape = shape.normalized();
    shape.steps.iter_mut().for_each(|step| step.was = None);
    shape
}

pub(super) async fn insert(
    connection: &mut SqliteConnection,
    session: &Session,
    wanted: &FlowVersion,
) -> Result<()> {
    let shape = wanted.shape.normalized();
    check(&wanted.shape)?;
    let insert = "insert into pgflow_flows (slug, name, version, shape, created_at)
        values (?, ?, ?, ?, ?)";
    sqlx::query(insert)
        .bind(&wanted.slug)
        .bind(&wanted.flow)
        .bind(wanted.version)
        .bind(shape.to_json().to_string())
        .bind(session.now)
        .execute(&mut *connection)
        .await?;
    change(connection).await
}

/// Says that definitions are to be read again.
pub(super) async fn change(connection: &mut SqliteConnection) -> Result<()> {
    let count = "update pgflow_definitions set changes = changes + 1";
    sqlx::query(count).execute(connection).await?;
    Ok(())
}

fn check(shape: &FlowShape) -> Result<(), BackendError> {
    Plan::new(shape).map_err(|why| BackendError::Refused(Box::new(why)))?;
    if place(shape.steps.len()) > SPAN {
        let text = format!("a flow has at most {SPAN} steps");
        return Err(BackendError::Refused(text.into()));
    }
    Ok(())
}
