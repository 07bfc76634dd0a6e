//! Claims of steps whose attempts need more than a worker: how many there is room for, and then as many tasks.

use std::collections::{BTreeMap, BTreeSet};

use pgflow_machine::TaskLease;
use pgflow_machine::permit::{Grants, PermitKey, PermitKind, Rooms, Stage};

use super::pipeline_claim::{buckets, held, permit_keys, resources};
use super::pipelines::written;
use super::{Access, PipelineSession, QueueSession, Queues, Stored};
use crate::backend::{Claimed, StepClaim, TaskHold};

/// Claims. It does not ask for a transaction that writes when there is nothing to take.
pub(super) async fn claim<S: Queues>(store: &S, claim: &StepClaim) -> Stored<Claimed> {
    claim.stage.check()?;
    if let Some(next_in) = store.no_tasks_yet(&claim.of_tasks(claim.max)).await? {
        return Ok(Claimed { next_in, ..Claimed::default() });
    }
    // Permits come before everything else that is locked.
    let mut session = store.begin(Access::Write).await?;
    let mut grants = grants(&mut session, &claim.stage).await?;
    let room = grants.room(claim.max);
    if room == 0 {
        let next_in = grants.next().map(|next| session.now().saturating_until(next));
        store.undo(session).await?;
        return Ok(Claimed { next_in, ..Claimed::default() });
    }
    let (leases, found) = store.take_tasks(&mut session, &claim.of_tasks(room)).await?;
    if !leases.is_empty() {
        let mut holds = Vec::new();
        for lease in &leases {
            holds.extend(holds_of(claim, lease, grants.take().unwrap_or_default()));
        }
        session.tick().await?;
        grants.had_late(session.now());
        note(&mut session, &grants, &holds).await?;
    }
    store.commit(session).await?;
    store.hand_on_tasks(found).await
}

/// What there is of what attempts need. In a transaction that writes, it is locked from here on.
async fn grants<'s, S: QueueSession>(session: &mut S, stage: &'s Stage) -> Stored<Grants<'s>> {
    let slugs: BTreeSet<_> = stage.resources.keys().cloned().collect();
    let mut keys = permit_keys(PermitKind::Resource, &slugs);
    keys.extend(permit_keys(PermitKind::Rate, &stage.rates));
    let mut found = session.load_permits(&keys).await?;
    // Tokens and units that others had until a moment ago are had after that.
    session.tick().await?;
    let buckets = buckets(&mut found, &stage.rates)?;
    let holds = if slugs.is_empty() { Vec::new() } else { session.load_holds(&slugs).await? };
    let rooms = Rooms::new(resources(found)?, held(holds));
    Ok(Grants::new(stage, session.now(), rooms, buckets))
}

fn holds_of(claim: &StepClaim, lease: &TaskLease, fences: BTreeMap<String, u64>) -> Vec<TaskHold> {
    let hold = |(resource, fence): (String, u64)| TaskHold {
        units: claim.stage.resources.get(&resource).copied().unwrap_or_default(),
        resource,
        flow: claim.flow.clone(),
        lease: lease.clone(),
        fence,
    };
    fences.into_iter().map(hold).collect()
}

/// Writes what was taken.
async fn note<S: PipelineSession>(
    session: &mut S,
    grants: &Grants<'_>,
    holds: &[TaskHold],
) -> Stored<()> {
    let mut rows = BTreeMap::new();
    for (slug, bucket) in grants.buckets() {
        rows.insert(PermitKey::new(PermitKind::Rate, slug), written(bucket)?);
    }
    for (slug, resource) in grants.resources() {
        rows.insert(PermitKey::new(PermitKind::Resource, slug), written(resource)?);
    }
    session.write_permits(&rows).await?;
    if holds.is_empty() { Ok(()) } else { session.add_task_holds(holds).await }
}
