//! Versions of flows.

use pgflow_machine::{RunStatus, Version};
use pgflow_model::{FlowShape, Operation, StepOptions};

use super::{Access, Session, Store, Stored, jobs, waits};
use crate::backend::{BackendError, Ensured, FlowVersion, KnownVersion};
use crate::flow_migrations::changed;
use pgflow_model::{FlowMigration, FlowMigrations};

pub(super) async fn ensure<S: Store>(store: &S, wanted: &FlowVersion) -> Stored<Ensured> {
    if let Some(known) = store.begin(Access::Read).await?.catalog().compare(wanted) {
        return Ok(known);
    }
    let mut session = store.begin(Access::Write).await?;
    if let Some(known) = session.catalog().compare(wanted) {
        return Ok(known);
    }
    session.insert_version(wanted).await?;
    store.commit(session).await?;
    Ok(Ensured::Created)
}

/// Notes what a version takes and puts out; nothing is written if that is known.
pub(super) async fn set_interface<S: Store>(store: &S, slug: &str, interface: &str) -> Stored<()> {
    let known = store.begin(Access::Read).await?.catalog().by_slug(slug).cloned();
    let is_news = |known: &Version| known.interface.as_deref() != Some(interface);
    let Some(version) = known.filter(|known| is_news(known)) else { return Ok(()) };
    let mut session = store.begin(Access::Write).await?;
    session.set_interface(&version, interface).await?;
    store.commit(session).await
}

pub(super) async fn versions<S: Store>(store: &S, flows: &[&str]) -> Stored<Vec<KnownVersion>> {
    if flows.is_empty() {
        return Ok(Vec::new());
    }
    let mut session = store.begin(Access::Read).await?;
    let mut known = Vec::new();
    let catalog = session.catalog().clone();
    for version in catalog.of(flows) {
        let open = session.open_work(version).await?;
        let newest = catalog.newest(&version.flow);
        known.push(KnownVersion {
            flow: version.flow.clone(),
            version: version.number,
            slug: version.slug().to_string(),
            is_current: newest.is_some_and(|newest| newest.id == version.id),
            open_runs: open.runs,
            open_tasks: open.tasks,
            oldest: open.since.map(|since| since.saturating_until(session.now())),
        });
    }
    Ok(known)
}

/// Applies what the database does not have yet, in one transaction.
pub(super) async fn apply<S: Store>(
    store: &S,
    migrations: &FlowMigrations,
) -> Stored<Vec<&'static str>> {
    let mut session = store.begin(Access::Write).await?;
    let mut applied = Vec::new();
    for file in migrations.files {
        if is_applied(&mut session, migrations.package, file).await? {
            continue;
        }
        for operation in file.operations().map_err(refused)? {
            run(&mut session, operation).await?;
        }
        session.record_applied(migrations.package, file).await?;
        applied.push(file.name);
    }
    store.commit(session).await?;
    Ok(applied)
}

fn refused(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> BackendError {
    BackendError::Refused(why.into())
}

async fn is_applied<S: Session>(
    session: &mut S,
    package: &str,
    file: &FlowMigration,
) -> Stored<bool> {
    match session.applied(package, file.name).await? {
        Some(found) if found != file.checksum => Err(refused(changed(file.name))),
        found => Ok(found.is_some()),
    }
}

async fn run<S: Session>(session: &mut S, operation: Operation) -> Stored<()> {
    let catalog = session.catalog().clone();
    let version = |slug: &str| {
        let unknown = || BackendError::UnknownFlow { flow: slug.to_owned() };
        catalog.by_slug(slug).ok_or_else(unknown)
    };
    match operation {
        Operation::CreateVersion { version, slug, shape } => {
            let wanted = FlowVersion { flow: shape.slug.clone(), version, slug, shape };
            match catalog.compare(&wanted) {
                None => session.insert_version(&wanted).await,
                Some(Ensured::Conflict(found)) => Err(refused(found.join("; "))),
                Some(_) => Ok(()),
            }
        }
        Operation::SetFlowOptions { slug, options } => {
            let version = version(&slug)?;
            let shape = FlowShape { options, ..version.shape.clone() };
            session.set_shape(version, &shape).await
        }
        Operation::SetStepOptions { slug, step, options } => {
            let version = version(&slug)?;
            session.set_shape(version, &with_options(version, &step, options)?).await
        }
        Operation::DeleteVersion { slug } => match catalog.by_slug(&slug) {
            Some(version) => delete(session, version).await,
            None => Ok(()),
        },
    }
}

/// Deletes a version with its runs. Jobs that wait for one of those are told, as if it had been cancelled; tasks, that it
/// was deleted.
async fn delete<S: Session>(session: &mut S, version: &Version) -> Stored<()> {
    let awaited = session.awaited_runs(version).await?;
    let cancelled: Vec<_> = awaited.into_iter().map(|run| (run, RunStatus::Cancelled)).collect();
    // Whoever could take them finds them: this is too rare for a hint.
    jobs::runs_ended(session, &cancelled).await?;
    waits::untie_version(session, version).await?;
    session.delete_version(version).await
}

fn with_options(version: &Version, step: &str, options: StepOptions) -> Stored<FlowShape> {
    let mut shape = version.shape.clone();
    let mut steps = shape.steps.iter_mut();
    let Some(found) = steps.find(|found| found.slug == step) else {
        return Err(refused(format!("flow `{}` has no step `{step}`", version.slug())));
    };
    found.options = options;
    Ok(shape)
}
