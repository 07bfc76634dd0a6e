//! Which versions of flows a worker serves, compared with what the database has.

use crate::backend::{Backend, Ensured, KnownVersion};
use crate::db::version_of;
use crate::schema::{input_schema, interface};
use crate::worker::{WorkerError, persistently};
use crate::{FlowDef, Registry, Served, States};

/// What can be said without asking the database.
pub(crate) fn check_program(
    registry: &Registry,
    states: &States,
    backend: &dyn Backend,
) -> Result<(), WorkerError> {
    check_flows(registry, states)?;
    check_transactions(registry, backend)
}

/// What can be said of the program alone.
pub(crate) fn check_flows(registry: &Registry, states: &States) -> Result<(), WorkerError> {
    if registry.flows().next().is_none() {
        return Err(WorkerError::NoFlows);
    }
    Ok(registry.check_states(states)?)
}

/// Whether steps get the transactions that they ask for.
pub(crate) fn check_transactions(
    registry: &Registry,
    backend: &dyn Backend,
) -> Result<(), WorkerError> {
    if backend.abilities().transactions {
        return Ok(());
    }
    for flow in registry.flows() {
        if let Some(step) = flow.steps.iter().find(|step| step.takes_tx) {
            let (flow, step, backend) = (flow.slug, step.slug, backend.name());
            return Err(WorkerError::NoTransactions { flow, step, backend });
        }
    }
    Ok(())
}

/// The versions that the program has code for and the database has, or why they do not fit.
pub(super) async fn known(
    registry: &Registry,
    backend: &dyn Backend,
) -> Result<Vec<Served>, WorkerError> {
    let names: Vec<&str> = registry.flows().map(|flow| flow.slug).collect();
    let known = persistently(|| backend.versions(&names)).await?;
    for flow in registry.flows() {
        compare(flow, &known, backend).await?;
    }
    let is_known = |served: &Served| known.iter().any(|version| version.slug == served.slug());
    let served: Vec<_> = registry.served().into_iter().filter(is_known).collect();
    tell(&served, &known);
    Ok(served)
}

async fn compare(
    flow: &'static FlowDef,
    known: &[KnownVersion],
    backend: &dyn Backend,
) -> Result<(), WorkerError> {
    let (slug, version) = (flow.version_slug, flow.version);
    if known.iter().all(|known| known.slug != slug) {
        return Err(WorkerError::UnknownFlow { flow: flow.slug, version, slug });
    }
    let ours = version_of(flow);
    match persistently(|| backend.ensure_flow(&ours)).await? {
        Ensured::Conflict(differences) => Err(WorkerError::OtherShape { slug, differences }),
        Ensured::Created | Ensured::Same => note_interface(flow, backend).await,
    }
}

/// Programs for older versions can start this one if it is the same from outside; people can start it with JSON that fits.
async fn note_interface(flow: &'static FlowDef, backend: &dyn Backend) -> Result<(), WorkerError> {
    let Some(interface) = interface(flow) else { return Ok(()) };
    persistently(|| backend.set_interface(flow.version_slug, &interface)).await?;
    let Some(schema) = input_schema(flow) else { return Ok(()) };
    Ok(persistently(|| backend.set_input_schema(flow.version_slug, schema.as_value())).await?)
}

/// Says what is served, and what waits for another program.
fn tell(served: &[Served], known: &[KnownVersion]) {
    for version in served {
        let code = version.flow().version;
        tracing::info!(flow = version.slug(), version = version.version(), code, "serving");
    }
    for version in known {
        let is_served = served.iter().any(|served| served.slug() == version.slug);
        if !is_served && version.open_runs > 0 {
            let (runs, tasks) = (version.open_runs, version.open_tasks);
            tracing::warn!(
                flow = version.slug,
                version = version.version,
                runs,
                tasks,
                "left alone: this program has no code for runs that wait"
            );
        }
    }
}
