//! Claims of stages: look, plan, take.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use pgflow_machine::Timestamp;
use pgflow_machine::job::{JobClaim, JobId, JobToken, Seq};
use pgflow_machine::permit::{
    BatchRule, Bucket, FormedBatches, MessageLease, NotedStage, PermitKey, PermitKind,
    PermitProblem, Pick, Place, Plan, Planner, Resource, Rooms, Trigger, Waiting, is_cut, place_of,
};
use serde_json::Value;

use super::cursors::{Cursor, later};
use super::pipelines::{read, written};
use super::{Access, Front, Look, QueueSession, Queues, Stored};
use crate::backend::{ClaimedBatch, ClaimedBatches, ClaimedJob, Hold, StageClaim};

/// Messages that one look at a queue finds.
const PAGE: u32 = 1000;

/// So many pages are looked at for messages that can be had, besides the first: the longest batch is in them.
const PAGES: usize = BatchRule::MOST.div_ceil(PAGE) as usize;

/// Batch keys of which one look asks for messages that it has not seen, at most, unless it has room for more attempts.
const KEYS: usize = 200;

/// When the next claim goes on behind those that cannot be had.
const GO_ON: Duration = Duration::from_millis(100);

/// So often a claim plans anew when others were quicker.
const TRIES: usize = 3;

/// What a claim could take.
struct Planned {
    plan: Plan,
    /// When that was so.
    at: Timestamp,
    /// How far the queue is, if it is a fair one.
    round: Option<u32>,
    /// How far it looked, if there is more behind that.
    seen: Option<Place>,
    /// Behind which place something was found, if that is further than the front.
    found: Option<Place>,
    /// When the first sleeper wakes or the first lease lapses, if that was asked for.
    change: Option<Timestamp>,
}

/// Claims. It does not ask for a transaction that writes when there is nothing to take; nor for a look where the last claim found
/// something, and the stage takes whatever comes.
pub(super) async fn claim<S: Queues>(store: &S, claim: &StageClaim) -> Stored<ClaimedBatches> {
    check(claim)?;
    let takes_any = claim.stage.takes_any();
    let is_busy = takes_any && store.cursors().is_busy(&claim.need);
    if is_busy {
        let front = front(store, claim).await?;
        if !front.batches.is_empty() {
            return Ok(front);
        }
    }
    let start = store.cursors().of(&claim.need);
    let (mut found, mut now) = look(store, claim, start).await?;
    if found.change.is_some_and(|change| change <= now) {
        store.catch_up(&claim.need).await?;
        (found, now) = look(store, claim, start).await?;
    }
    store.cursors().set_busy(&claim.need, takes_any && !found.plan.picks.is_empty());
    if found.plan.picks.is_empty() {
        store.cursors().set(&claim.need, found.seen, now);
        let next = [found.plan.next, found.change].into_iter().flatten().min();
        let next_in = next.map(|next| now.saturating_until(next));
        let goes_on = found.seen.map(|_| GO_ON);
        let next_in = next_in.into_iter().chain(goes_on).min();
        return Ok(ClaimedBatches { batches: Vec::new(), next_in });
    }
    // Once is enough: what is at the front took a look before, and still does.
    if takes_any && !is_busy {
        let front = front(store, claim).await?;
        if !front.batches.is_empty() {
            return Ok(front);
        }
    }
    // What is locked is locked in one order: all that is wanted is known by now, unless others were quicker.
    let named: BTreeSet<_> =
        found.plan.picks.into_iter().flat_map(|pick| pick.units.into_keys()).collect();
    for _ in 0..TRIES {
        if let Some(claimed) = take_planned(store, claim, &named, start).await? {
            return Ok(claimed);
        }
    }
    Ok(ClaimedBatches { batches: Vec::new(), next_in: Some(Duration::ZERO) })
}

/// The first messages, an attempt each, where that takes one call.
async fn front<S: Queues>(store: &S, claim: &StageClaim) -> Stored<ClaimedBatches> {
    let Front { messages, is_cut, now } = store.take_front(claim).await?;
    let attempt = |(message, since): (ClaimedJob, Timestamp)| {
        let (jobs, units) = (vec![message.taken.hold.job.clone()], BTreeMap::new());
        let pick = Pick { jobs, trigger: None, since, units, fences: BTreeMap::new() };
        claimed(now, claim, pick, vec![message], JobToken::new().0)
    };
    let batches: Vec<_> = messages.into_iter().map(attempt).collect();
    let next_in = is_cut.then_some(Duration::ZERO);
    Ok(ClaimedBatches { batches, next_in })
}

/// Plans and takes in one transaction. Nothing if others took some of a batch meanwhile: then all of it is undone, as if nobody
/// had looked, and there is something else to plan.
async fn take_planned<S: Queues>(
    store: &S,
    claim: &StageClaim,
    named: &BTreeSet<String>,
    start: Option<Cursor>,
) -> Stored<Option<ClaimedBatches>> {
    let mut session = store.begin(Access::Write).await?;
    let planned = plan(&mut session, claim, named.clone(), start, false).await?;
    let (next, found) = (planned.plan.next, planned.found);
    let Some(batches) = take(&mut session, claim, &planned).await? else {
        store.undo(session).await?;
        return Ok(None);
    };
    let next = next.filter(|_| batches.len() < claim.max as usize);
    let now = session.now();
    let next_in = next.map(|next| now.saturating_until(next));
    store.commit(session).await?;
    if let Some(found) = found {
        store.cursors().found(&claim.need, found, now);
    }
    Ok(Some(ClaimedBatches { batches, next_in }))
}

/// What could be taken, and when that was so.
async fn look<S: Queues>(
    store: &S,
    claim: &StageClaim,
    start: Option<Cursor>,
) -> Stored<(Planned, Timestamp)> {
    let mut reading = store.begin(Access::Read).await?;
    let planned = plan(&mut reading, claim, BTreeSet::new(), start, true).await?;
    Ok((planned, reading.now()))
}

fn check(claim: &StageClaim) -> Result<(), PermitProblem> {
    let StageClaim { worker, need, lease, max, stage } = claim;
    let (worker, needs) = (worker.clone(), vec![need.clone()]);
    JobClaim { worker, needs, lease: *lease, max: *max }.check()?;
    stage.check()
}

/// What the claim could take: of the front of its queue, and, if that is not enough, of what is behind `start`. In a transaction that writes, permits are locked from here on: those of the stage and of these
/// resources.
async fn plan<S: QueueSession>(
    session: &mut S,
    claim: &StageClaim,
    named: BTreeSet<String>,
    start: Option<Cursor>,
    wants_change: bool,
) -> Stored<Planned> {
    let StageClaim { worker, need, max, stage, .. } = claim;
    let known: BTreeSet<String> = stage.resources.keys().cloned().chain(named).collect();
    let mut permits = permit_keys(PermitKind::Resource, &known);
    permits.extend(permit_keys(PermitKind::Rate, &stage.rates));
    permits.insert(PermitKey::round(need));
    let each = stage.batch.map_or(1, |batch| batch.len);
    // As many as there is room for; more only if those cannot be had.
    let mut asked = max.saturating_mul(each).clamp(1, PAGE);
    let look = Look { worker, need, permits, max: asked, wants_change };
    let mut looked = session.look(&look).await?;
    // Tokens and units that others had until a moment ago are had after that.
    session.tick().await?;
    if session.is_paused(need).await? {
        return Ok(Planned {
            plan: Plan::default(),
            at: session.now(),
            round: None,
            seen: None,
            found: None,
            change: looked.change,
        });
    }
    let round = looked.permits.remove(&PermitKey::round(need)).map(read).transpose()?;
    let buckets = buckets(&mut looked.permits, &stage.rates)?;
    let rooms = Rooms::new(resources(looked.permits)?, held(looked.holds));
    let at = session.now();
    let planner = Planner::new(stage, *max, at, rooms, buckets);
    let keys = KEYS.max(planner.lacks());
    let mut view = View { session, need, planner, known, each, keys, contiguous: None };
    let (mut page, mut seen) = (looked.page, None);
    // Where this page begins, if it is not the first, and whether something before it was not looked at.
    let (mut begins, mut found, mut has_gap) = (None, None, false);
    for number in 0..=PAGES {
        if view.planner.is_full() {
            break;
        }
        let fits = view.planner.of_keys(&page, view.keys);
        let is_last = page.len() < asked as usize && !is_cut(&page) && fits == page.len();
        page.truncate(fits);
        let after = page.last().map(Waiting::place).or(begins);
        let places =
            found.is_none().then_some(begins).flatten().map(|begins| places(&page, begins));
        let before = view.planner.picked();
        view.learn(&page).await?;
        view.planner.look(page);
        if !has_gap {
            view.contiguous = after;
        }
        if let (Some(places), Some(first)) = (places, view.planner.first_pick(before)) {
            found = places.get(first).copied();
        }
        seen = after.filter(|_| !is_last);
        let start = start.filter(|_| number == 0).and_then(|start| start.at(at));
        let next = later(after, start);
        let leaps = next != after && !is_last;
        if has_gap || !is_last {
            view.complete(leaps).await?;
        }
        if is_last || number == PAGES || view.keys == 0 || view.planner.is_full() {
            break;
        }
        // Something was found there: most likely, as many as are wanted.
        asked = if start.is_some() { asked } else { PAGE };
        has_gap |= leaps;
        (page, begins) = (view.session.waiting(need, next, asked).await?, next);
    }
    let plan = view.planner.done();
    Ok(Planned { plan, at, round, seen, found, change: looked.change })
}

/// What a claim has seen of its queue so far.
struct View<'a, S> {
    session: &'a mut S,
    need: &'a str,
    planner: Planner<'a>,
    /// Resources that the planner knows.
    known: BTreeSet<String>,
    /// Messages of a batch.
    each: u32,
    /// So many batch keys may still be asked for.
    keys: usize,
    /// From the front of the queue up to here, all of it was seen.
    contiguous: Option<Place>,
}

impl<S: QueueSession> View<'_, S> {
    /// Resources that are new to the planner.
    async fn learn(&mut self, messages: &[Waiting]) -> Stored<()> {
        let named = messages.iter().flat_map(|waiting| waiting.resources.keys());
        let new: BTreeSet<_> = named.filter(|slug| !self.known.contains(*slug)).cloned().collect();
        if !new.is_empty() {
            let more = permit_keys(PermitKind::Resource, &new);
            let more = self.session.load_more_permits(&more).await?;
            self.planner.know(resources(more)?, held(self.session.load_holds(&new).await?));
            self.known.extend(new);
        }
        Ok(())
    }

    /// Looks for the rest of batches of which something was seen: keys may be scattered over the whole queue. If it leaps, what is
    /// seen here was looked for by the claims that came as far: then only what is ripe by time is.
    async fn complete(&mut self, leaps: bool) -> Stored<()> {
        let mut most = self.planner.lacks().max(1);
        while self.keys > 0 && !self.planner.is_full() {
            let keys = self.planner.open_keys(most.min(self.keys), leaps);
            if keys.is_empty() {
                break;
            }
            self.keys -= keys.len();
            let behind = self.contiguous;
            let more = self.session.waiting_of(self.need, &keys, behind, self.each).await?;
            self.learn(&more).await?;
            self.planner.complete(&keys, behind, more);
            most *= 2;
        }
        if leaps {
            let rest = self.planner.open_keys(usize::MAX, false);
            self.planner.leave(&rest);
        }
        Ok(())
    }
}

/// The place before each message of a page.
fn places(page: &[Waiting], begins: Place) -> HashMap<JobId, Place> {
    let before = page.iter().map(|waiting| (waiting.priority, waiting.seq));
    let before = std::iter::once(begins).chain(before);
    page.iter().map(|waiting| waiting.job.clone()).zip(before).collect()
}

pub(super) fn permit_keys<'s>(
    kind: PermitKind,
    slugs: impl IntoIterator<Item = &'s String>,
) -> BTreeSet<PermitKey> {
    slugs.into_iter().map(|slug| PermitKey::new(kind, slug)).collect()
}

pub(super) fn buckets(
    found: &mut BTreeMap<PermitKey, Value>,
    rates: &[String],
) -> Stored<BTreeMap<String, Bucket>> {
    let bucket = |key: PermitKey| match found.remove(&key) {
        Some(value) => Ok((key.name, read(value)?)),
        None => Err(PermitProblem::UnknownRate(key.name).into()),
    };
    permit_keys(PermitKind::Rate, rates).into_iter().map(bucket).collect()
}

pub(super) fn resources(found: BTreeMap<PermitKey, Value>) -> Stored<BTreeMap<String, Resource>> {
    found.into_iter().map(|(key, value)| Ok((key.name, read(value)?))).collect()
}

/// Units that are held: messages that were claimed together hold once.
pub(super) fn held(holds: Vec<Hold>) -> Vec<(String, u32)> {
    let by_batch: BTreeMap<_, _> =
        holds.into_iter().map(|hold| ((hold.resource, hold.batch), hold.units)).collect();
    by_batch.into_iter().map(|((resource, _), units)| (resource, units)).collect()
}

/// Takes what was planned, as far as it can still be had; nothing if others took some of a batch.
async fn take<S: QueueSession>(
    session: &mut S,
    claim: &StageClaim,
    planned: &Planned,
) -> Stored<Option<Vec<ClaimedBatch>>> {
    let plan = &planned.plan;
    let candidates: Vec<_> = plan.picks.iter().flat_map(|pick| pick.jobs.clone()).collect();
    if candidates.is_empty() {
        return Ok(Some(Vec::new()));
    }
    session.tick().await?;
    let taken = session.take(&candidates, &claim.worker, claim.lease).await?;
    let last = planned.round.map(|before| last_place(before, &taken));
    let (mut batches, mut holds) = (Vec::new(), Vec::new());
    let taken = taken.into_iter().map(|message| (message.taken.hold.job.clone(), message));
    let mut taken: HashMap<_, _> = taken.collect();
    for pick in plan.picks.clone() {
        let of_it: Vec<_> = pick.jobs.iter().filter_map(|job| taken.remove(job)).collect();
        if is_spoiled(claim, &pick, &of_it) {
            return Ok(None);
        }
        if !of_it.is_empty() {
            let batch = JobToken::new().0;
            holds.extend(of_it.iter().flat_map(|message| hold(&pick, message, &batch)));
            batches.push(claimed(session.now(), claim, pick, of_it, batch));
        }
    }
    note(session, claim, planned, &batches, last).await?;
    if !holds.is_empty() {
        session.add_holds(&holds).await?;
    }
    Ok(Some(batches))
}

/// How far a fair queue is when these are taken. What was submitted as a plain job has no place.
fn last_place(before: u32, taken: &[ClaimedJob]) -> u32 {
    let priorities = taken.iter().map(|message| message.taken.row.priority);
    priorities.filter(|it| *it != 0).map(place_of).fold(before, u32::max)
}

/// Writes what these attempts took of permits, how far a fair queue is, and how many batches were formed of it.
async fn note<S: QueueSession>(
    session: &mut S,
    claim: &StageClaim,
    planned: &Planned,
    claimed: &[ClaimedBatch],
    last: Option<u32>,
) -> Stored<()> {
    let (plan, attempts) = (&planned.plan, claimed.len());
    let mut rows = count(session, claim, claimed).await?;
    // Of what others were quicker to take, or whose key they have, no token is taken.
    let left = plan.left(attempts, planned.at, session.now()).into_iter();
    for (slug, bucket) in left.filter(|_| attempts > 0) {
        rows.insert(PermitKey::new(PermitKind::Rate, slug), written(&bucket)?);
    }
    let granted: BTreeSet<_> = plan.picks.iter().flat_map(|pick| pick.fences.keys()).collect();
    for (slug, resource) in plan.rooms.resources().filter(|(slug, _)| granted.contains(slug)) {
        rows.insert(PermitKey::new(PermitKind::Resource, slug), written(resource)?);
    }
    if let Some(last) = last {
        rows.insert(PermitKey::round(&claim.need), last.into());
    }
    if rows.is_empty() {
        return Ok(());
    }
    session.write_permits(&rows).await
}

/// Counts batches in the row that is noted of their stage, if there is one. It is locked last, for as long as it takes to commit.
async fn count<S: QueueSession>(
    session: &mut S,
    claim: &StageClaim,
    claimed: &[ClaimedBatch],
) -> Stored<BTreeMap<PermitKey, Value>> {
    if claim.stage.batch.is_none() || claimed.is_empty() {
        return Ok(BTreeMap::new());
    }
    let key = PermitKey::new(PermitKind::Stage, &claim.need);
    let found = session.load_permits(&[key.clone()].into()).await?.remove(&key);
    let Some(mut noted) = found.map(read::<NotedStage>).transpose()? else {
        return Ok(BTreeMap::new());
    };
    let messages = claimed.iter().map(|batch| batch.messages.len() as u64).sum();
    noted.formed += FormedBatches { batches: claimed.len() as u64, messages };
    Ok([(key, written(&noted)?)].into())
}

/// Whether others took some of it, so that it may be both short and young, since perhaps that was the oldest; or handed one of
/// them over to another queue.
fn is_spoiled(claim: &StageClaim, pick: &Pick, taken: &[ClaimedJob]) -> bool {
    let is_batch = pick.trigger.is_some_and(|trigger| trigger != Trigger::Drain);
    let is_elsewhere = |message: &ClaimedJob| message.taken.row.need != claim.need;
    (is_batch && taken.len() < pick.jobs.len()) || taken.iter().any(is_elsewhere)
}

fn hold(pick: &Pick, message: &ClaimedJob, batch: &str) -> Vec<Hold> {
    let Seq::Given(job) = message.taken.row.seq else { return Vec::new() };
    let hold = |(resource, units): (&String, &u32)| Hold {
        resource: resource.clone(),
        job,
        token: message.taken.hold.token.0.clone(),
        batch: batch.to_owned(),
        units: *units,
        fence: pick.fences.get(resource).copied().unwrap_or_default(),
    };
    pick.units.iter().map(hold).collect()
}

fn claimed(
    now: Timestamp,
    claim: &StageClaim,
    pick: Pick,
    messages: Vec<ClaimedJob>,
    batch: String,
) -> ClaimedBatch {
    let holds = messages.iter().map(|message| message.taken.hold.clone()).collect();
    ClaimedBatch {
        lease: MessageLease { batch, need: claim.need.clone(), holds, lasts: claim.lease },
        messages,
        trigger: pick.trigger,
        waited: pick.since.saturating_until(now),
        fences: pick.fences,
    }
}
