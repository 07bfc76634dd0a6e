//! The mutations, by topic.

mod archives;
mod conditions;
mod counters;
mod definitions;
mod events;
mod fences;
mod guards;
mod job_leases;
mod job_waits;
mod limits;
mod lock_order;
mod locks;
mod machine;
mod maintenance;
mod options;
mod order;
mod pipelines;
mod queues;
mod retry;
mod schedules;
mod security;
mod streams;
mod verdicts;
mod visibility;
mod waits;
mod worker;

use super::mutation::Mutation;

const TOPICS: &[&[Mutation]] = &[
    fences::ALL,
    locks::ALL,
    lock_order::ALL,
    order::ALL,
    archives::ALL,
    guards::ALL,
    visibility::ALL,
    counters::ALL,
    conditions::ALL,
    events::ALL,
    limits::ALL,
    security::ALL,
    maintenance::ALL,
    definitions::ALL,
    verdicts::ALL,
    worker::ALL,
    retry::ALL,
    options::ALL,
    queues::ALL,
    job_leases::ALL,
    job_waits::ALL,
    waits::ALL,
    pipelines::ALL,
    streams::ALL,
    schedules::ALL,
];

/// Those of the SQL core.
pub(crate) fn sql() -> impl Iterator<Item = Mutation> {
    TOPICS.iter().flat_map(|topic| topic.iter().copied())
}

/// Those of `pgflow-machine`.
pub(crate) fn machine() -> impl Iterator<Item = Mutation> {
    machine::ROOMS.iter().flat_map(|room| room.iter().copied())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use crate::mutants::mutation::Mutation;
    use crate::mutants::subject::Subject;

    fn all() -> Vec<Mutation> {
        Subject::ALL.into_iter().flat_map(Subject::mutations).collect()
    }

    #[test]
    fn every_mutation_still_applies() {
        let stale: Vec<_> = Subject::ALL
            .into_iter()
            .flat_map(|subject| subject.mutations().into_iter().map(move |m| (subject, m)))
            .filter_map(|(subject, mutation)| mutation.apply(&subject.source()).err())
            .collect();
        let lines: Vec<_> = stale.iter().map(ToString::to_string).collect();
        assert!(stale.is_empty(), "{}", lines.join("\n"));
    }

    #[test]
    fn every_mutation_changes_something_and_says_why() {
        for mutation in all() {
            assert_ne!(mutation.find, mutation.replace, "{}", mutation.name);
            assert!(!mutation.why.is_empty() && !mutation.tests.is_empty(), "{}", mutation.name);
        }
    }

    #[test]
    fn names_are_unique_and_there_are_enough() {
        let names: HashSet<_> = all().iter().map(|mutation| mutation.name).collect();
        assert_eq!(names.len(), all().len());
        for subject in Subject::ALL {
            assert!(subject.mutations().len() >= 40, "{subject:?}");
        }
    }
}
