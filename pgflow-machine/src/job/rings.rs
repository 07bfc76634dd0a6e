//! Jobs that wait for themselves.

use std::collections::{BTreeSet, HashMap};

use super::JobId;

/// So many edges a sweep looks at, so that it can afford it. The check of the database looks at all.
pub const RING_EDGES: u32 = 5000;

/// Jobs that wait for themselves, through others: what is left when all are taken away that wait for nobody of the rest, or that
/// nobody of the rest waits for. An edge is a waiter and what it waits for.
///
/// ```
/// use pgflow_machine::job::rings;
///
/// let job = |name: &str| name.parse().unwrap();
/// let edges = [("a", "b"), ("b", "c"), ("c", "a"), ("d", "a"), ("b", "e")];
/// let found = rings(edges.map(|(waiter, on)| (job(waiter), job(on))));
/// assert_eq!(found, ["a", "b", "c"].map(job));
/// ```
pub fn rings(edges: impl IntoIterator<Item = (JobId, JobId)>) -> Vec<JobId> {
    let edges: Vec<_> = edges.into_iter().collect();
    let forward = peel(edges.iter().map(|(waiter, on)| (waiter, on)));
    let inside = |job: &JobId| forward.contains(job);
    let left = edges.iter().filter(|(waiter, on)| inside(waiter) && inside(on));
    peel(left.map(|(waiter, on)| (on, waiter))).into_iter().cloned().collect()
}

/// What has a way to a ring: takes away what leads nowhere, again and again.
fn peel<'j>(edges: impl Iterator<Item = (&'j JobId, &'j JobId)>) -> BTreeSet<&'j JobId> {
    let (mut leads, mut led): (HashMap<_, usize>, HashMap<_, Vec<_>>) = Default::default();
    for (from, to) in edges {
        *leads.entry(from).or_default() += 1;
        leads.entry(to).or_default();
        led.entry(to).or_default().push(from);
    }
    let ends = leads.iter().filter(|(_, ways)| **ways == 0);
    let mut ends: Vec<&JobId> = ends.map(|(job, _)| *job).collect();
    while let Some(end) = ends.pop() {
        leads.remove(end);
        for from in led.remove(end).into_iter().flatten() {
            if let Some(ways) = leads.get_mut(from) {
                *ways -= 1;
                if *ways == 0 {
                    ends.push(from);
                }
            }
        }
    }
    leads.into_keys().collect()
}
