//! What the migrations of a program's flows lead to, all together.

use pgflow_model::Operation;

use super::{Backend, BackendError, Ensured, FlowVersion};
use crate::{FlowMigration, FlowMigrations};

/// Registers every version that the migrations leave behind; returns the files that brought a new one.
pub(super) async fn replay<B: Backend + ?Sized>(
    backend: &B,
    migrations: &FlowMigrations,
) -> Result<Vec<&'static str>, BackendError> {
    let mut versions = Vec::new();
    for file in migrations.files {
        fold(&mut versions, file).map_err(refused)?;
    }
    let mut applied = Vec::new();
    for (file, version) in versions {
        match backend.ensure_flow(&version).await? {
            Ensured::Created => applied.push(file),
            Ensured::Same => {}
            Ensured::Conflict(differences) => return Err(refused(differences.join("; "))),
        }
    }
    applied.dedup();
    Ok(applied)
}

fn refused(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> BackendError {
    BackendError::Refused(why.into())
}

/// A version, and the file that created it.
type Versions = Vec<(&'static str, FlowVersion)>;

fn fold(
    versions: &mut Versions,
    file: &FlowMigration,
) -> Result<(), pgflow_model::InvalidOperation> {
    for operation in file.operations()? {
        match operation {
            Operation::CreateVersion { version, slug, shape } => {
                let flow = shape.slug.clone();
                versions.push((file.name, FlowVersion { flow, version, slug, shape }));
            }
            Operation::SetFlowOptions { slug, options } => {
                let found = versions.iter_mut().find(|(_, version)| version.slug == slug);
                if let Some((_, version)) = found {
                    version.shape.options = options;
                }
            }
            Operation::SetStepOptions { slug, step, options } => {
                let found = versions.iter_mut().find(|(_, version)| version.slug == slug);
                let steps = found.into_iter().flat_map(|(_, version)| &mut version.shape.steps);
                steps.filter(|found| found.slug == step).for_each(|step| step.options = options);
            }
            Operation::DeleteVersion { slug } => {
                versions.retain(|(_, version)| version.slug != slug);
            }
        }
    }
    Ok(())
}
