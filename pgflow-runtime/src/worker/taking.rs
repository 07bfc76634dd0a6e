//! What attempts take besides a slot: of needs and of steps.

use std::collections::BTreeMap;

use pgflow_machine::permit::{PermitProblem, Stage};

use super::persistently;
use crate::backend::{Backend, BackendError};

/// What a claim has to get for an attempt, if that is anything: a unit of each resource, and a token.
pub(crate) fn stage(resources: &[&str], rate: Option<&str>) -> Option<Stage> {
    let stage = Stage {
        resources: resources.iter().map(|slug| ((*slug).to_owned(), 1)).collect(),
        rates: rate.iter().map(|slug| (*slug).to_owned()).collect(),
        ..Stage::default()
    };
    (stage != Stage::default()).then_some(stage)
}

/// An error if there is no such resource or rate.
pub(crate) async fn check(backend: &dyn Backend, stage: &Stage) -> Result<(), BackendError> {
    let queues = backend.pipelines()?;
    let none = BTreeMap::new();
    persistently(|| queues.declare(&none, &stage.resources)).await?;
    for slug in &stage.rates {
        if persistently(|| queues.rate(slug)).await?.is_none() {
            return Err(PermitProblem::UnknownRate(slug.clone()).into());
        }
    }
    Ok(())
}

/// Notes what attempts take, for those who ask why something is not taken.
pub(crate) async fn note(
    backend: &dyn Backend,
    stages: BTreeMap<String, Stage>,
) -> Result<(), BackendError> {
    let Ok(queues) = backend.pipelines() else { return Ok(()) };
    persistently(|| queues.note_stages(&stages)).await
}
