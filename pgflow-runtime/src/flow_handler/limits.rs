//! Steps that fewer tasks of may run at once.

use pgflow_machine::{Quota, Source, Want};

use crate::Served;
use crate::worker::{InUse, Permit};

/// Limits on the tasks of steps, in this process.
#[derive(Debug, Default)]
pub(super) struct StepLimits {
    limits: Vec<StepLimit>,
    /// Which version of a limited step gets the odd task: one after the other.
    round: usize,
}

/// A limit on the tasks of one step, over all versions of its flow.
#[derive(Debug)]
struct StepLimit {
    flow: &'static str,
    step: &'static str,
    max: usize,
    in_use: InUse,
    /// Slugs of a version of the flow and of the step in it.
    names: Vec<(&'static str, &'static str)>,
}

impl StepLimits {
    /// Adds a limit on a step of a flow, by the names it has in the versions that are served.
    pub(super) fn add(
        &mut self,
        (flow, step): (&'static str, &'static str),
        max: usize,
        served: &[Served],
    ) {
        let of_flow = served.iter().filter(|version| version.flow().slug == flow);
        let names = of_flow.map(|version| (version.slug(), version.former(step))).collect();
        self.limits.push(StepLimit { flow, step, max, in_use: InUse::default(), names });
    }

    /// What a task takes of the limit of its step, if that has one.
    pub(super) fn take(&self, flow: &str, step: &str) -> Option<Permit> {
        let limit = self.limits.iter().find(|limit| limit.flow == flow && limit.step == step);
        limit.map(|limit| limit.in_use.take())
    }

    /// What a claim may take of these versions, so that all it gets can start.
    pub(super) fn wants(&mut self, served: &[Served]) -> Vec<Want> {
        self.round = self.round.wrapping_add(1);
        let quotas = |slug: &str| {
            let quotas = self.limits.iter().flat_map(|limit| limit.quotas(self.round));
            quotas.filter(|(version, _)| *version == slug).map(|(_, quota)| quota).collect()
        };
        let want = |slug| Want {
            source: Source::queue(slug),
            quotas: quotas(slug),
            lease: None,
            stage: None,
            ahead: 0,
        };
        served.iter().map(|version| want(version.slug())).collect()
    }
}

impl StepLimit {
    /// What is left, shared among the versions.
    fn quotas(&self, round: usize) -> impl Iterator<Item = (&'static str, Quota)> {
        let (left, versions) = (self.max.saturating_sub(self.in_use.count()), self.names.len());
        self.names.iter().enumerate().map(move |(at, (version, step))| {
            let gets_more = (at + round) % versions < left % versions;
            let max = left / versions + usize::from(gets_more);
            let max = u32::try_from(max).unwrap_or(u32::MAX);
            (*version, Quota { step: (*step).to_owned(), max })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limited(max: usize, versions: &[&'static str]) -> StepLimits {
        let names = versions.iter().map(|slug| (*slug, "pay")).collect();
        let in_use = InUse::default();
        let limit = StepLimit { flow: "order", step: "pay", max, in_use, names };
        StepLimits { limits: vec![limit], round: 0 }
    }

    fn asked(limits: &mut StepLimits) -> Vec<u32> {
        limits.round += 1;
        limits.limits[0].quotas(limits.round).map(|(_, quota)| quota.max).collect()
    }

    #[test]
    fn a_limit_is_left_with_what_is_not_taken() {
        let mut limits = limited(4, &["order"]);
        let taken = [limits.take("order", "pay"), limits.take("order", "pay")];
        assert!(taken.iter().all(Option::is_some) && limits.take("order", "ship").is_none());
        assert_eq!(asked(&mut limits), [2]);
        drop(taken);
        assert_eq!(asked(&mut limits), [4]);
    }

    #[test]
    fn versions_share_a_limit_one_after_the_other() {
        let mut limits = limited(3, &["order", "order__v2"]);
        let (first, second) = (asked(&mut limits), asked(&mut limits));
        assert_eq!(first.iter().sum::<u32>(), 3);
        assert_ne!(first, second, "the odd one goes to the other");
    }
}
