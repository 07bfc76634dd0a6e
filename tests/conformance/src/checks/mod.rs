//! The checks, by what they are about.

mod attempts;
mod cancelling;
mod claiming;
mod delays;
mod ended;
mod events;
mod excess;
mod failing;
mod fair;
mod faults;
mod heartbeats;
mod jobs;
mod joins;
mod listing;
mod lost;
mod maps;
mod payloads;
mod pipelines;
mod quotas;
mod random;
mod retrying;
mod rules;
mod schedules;
mod settling;
mod skipping;
mod starting;
mod streams;
mod transactions;
mod unknown;
mod upkeep;
mod versions;
mod waits;
mod wakes;
mod yielding;
mod zombies;

use crate::Check;

/// Every check, in the order of the specification.
pub fn all() -> Vec<Check> {
    let groups = [
        starting::CHECKS,
        joins::CHECKS,
        maps::CHECKS,
        excess::CHECKS,
        failing::CHECKS,
        skipping::CHECKS,
        cancelling::CHECKS,
        ended::CHECKS,
        claiming::CHECKS,
        fair::CHECKS,
        lost::CHECKS,
        zombies::CHECKS,
        settling::CHECKS,
        heartbeats::CHECKS,
        attempts::CHECKS,
        delays::CHECKS,
        events::CHECKS,
        payloads::CHECKS,
        wakes::CHECKS,
        faults::CHECKS,
        quotas::CHECKS,
        random::CHECKS,
        retrying::CHECKS,
        listing::CHECKS,
        versions::CHECKS,
        rules::CHECKS,
        transactions::CHECKS,
        unknown::CHECKS,
        upkeep::CHECKS,
        yielding::CHECKS,
    ];
    let more = jobs::GROUPS.iter().chain(streams::GROUPS).chain(schedules::GROUPS);
    let more = more.chain(waits::GROUPS).chain(pipelines::GROUPS);
    let groups = groups.into_iter().chain(more.copied());
    let mut checks: Vec<_> = groups.flatten().copied().collect();
    checks.sort_by_key(|check| check.id);
    checks
}
