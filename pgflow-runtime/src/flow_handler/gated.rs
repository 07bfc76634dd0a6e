//! Steps whose attempts need more than a worker: units of resources, or a token of a rate.

use std::collections::BTreeMap;

use pgflow_machine::job::check_name;
use pgflow_machine::permit::{PermitKey, Stage};
use pgflow_machine::{Quota, Source, Want};

use crate::backend::{Backend, BackendError};
use crate::worker::taking;
use crate::{Served, StepDef};

/// Steps that claims ask for one by one, with what their attempts take.
#[derive(Debug, Default)]
pub(super) struct Gated(Vec<GatedStep>);

#[derive(Debug)]
struct GatedStep {
    /// Slug of the version.
    flow: &'static str,
    step: &'static str,
    /// The other steps of it.
    others: Vec<&'static str>,
    stage: Stage,
}

impl Gated {
    /// Of these versions, by the names that steps have in them.
    pub(super) fn of(served: &[Served]) -> Self {
        let of_version = |version: &Served| {
            let names: Vec<_> =
                version.flow().steps.iter().map(|step| version.former(step.slug)).collect();
            let gated = |step: &'static StepDef| {
                let stage = taking::stage(step.resources, step.rate)?;
                let (flow, name) = (version.slug(), version.former(step.slug));
                let others = names.iter().copied().filter(|other| *other != name).collect();
                Some(GatedStep { flow, step: name, others, stage })
            };
            version.flow().steps.iter().filter_map(gated).collect::<Vec<_>>()
        };
        Self(served.iter().flat_map(of_version).collect())
    }

    /// An error if one of them needs what is not there; otherwise it is noted what they take.
    pub(super) async fn declare(&self, backend: &dyn Backend) -> Result<(), BackendError> {
        let mut stages = BTreeMap::new();
        for GatedStep { flow, step, stage, .. } in &self.0 {
            taking::check(backend, stage).await?;
            let name = PermitKey::step(flow, step).name;
            // Of a longer name people are told less.
            if check_name(&name).is_ok() {
                stages.insert(name, stage.clone());
            }
        }
        if stages.is_empty() { Ok(()) } else { taking::note(backend, stages).await }
    }

    /// Whether one of them may wait for this resource or rate.
    pub(super) fn takes(&self, slug: &str) -> bool {
        self.0.iter().any(|gated| gated.stage.takes(slug))
    }

    /// These wants without such steps, and each of those by itself.
    pub(super) fn apart(&self, wants: Vec<Want>) -> Vec<Want> {
        let mut all = Vec::with_capacity(wants.len() + self.0.len());
        for mut want in wants {
            let of_it = |gated: &&GatedStep| want.source.as_queue() == Some(gated.flow);
            let of_it: Vec<_> = self.0.iter().filter(of_it).collect();
            for gated in of_it {
                let limits = want.quotas.iter().filter(|quota| quota.step == gated.step);
                let max = limits.map(|quota| quota.max).min().unwrap_or(u32::MAX);
                all.push(gated.want(max));
                want.quotas.push(quota(gated.step, 0));
            }
            all.push(want);
        }
        all
    }
}

impl GatedStep {
    /// The step comes first, and then what is not wanted.
    fn want(&self, max: u32) -> Want {
        let others = self.others.iter().map(|other| quota(other, 0));
        Want {
            quotas: std::iter::once(quota(self.step, max)).chain(others).collect(),
            stage: Some(self.stage.clone()),
            ..Want::from(Source::queue(self.flow))
        }
    }
}

fn quota(step: &str, max: u32) -> Quota {
    Quota { step: step.to_owned(), max }
}
