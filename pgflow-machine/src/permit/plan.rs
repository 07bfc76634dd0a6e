//! What one claim of a stage takes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use super::group::{Group, most_bytes};
use super::message::check_units;
use super::{BatchRule, Bucket, Formed, PermitProblem, Resource, Rooms, Trigger, Units, form};
use crate::Timestamp;
use crate::job::JobId;
use crate::work::CLAIM_BYTES;

/// What a stage of a pipeline takes of its queue.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Stage {
    /// Whether messages go together.
    pub batch: Option<BatchRule>,
    /// What each attempt holds.
    pub resources: Units,
    /// Rates that each attempt takes a token of.
    pub rates: Vec<String>,
    /// Whether it is that of a pipeline: what it takes are messages, which end when their budget is spent. Jobs are set aside before.
    pub of_queue: bool,
    /// Whoever asks is about to leave: batches need not be ripe.
    #[serde(skip)]
    pub drains: bool,
    /// Whoever asks is at work on a message that was lost with its worker before, and takes no other such message meanwhile.
    #[serde(skip)]
    pub has_lost: bool,
}

impl Stage {
    /// Whether it makes sense.
    pub fn check(&self) -> Result<(), PermitProblem> {
        self.batch.as_ref().map_or(Ok(()), BatchRule::check)?;
        check_units(&self.resources)
    }

    /// Whether it needs nothing but slots: then it is messages alone that may have to wait.
    pub fn takes_any(&self) -> bool {
        self.batch.is_none() && self.resources.is_empty() && self.rates.is_empty()
    }

    /// Whether its attempts need this resource or rate.
    pub fn takes(&self, slug: &str) -> bool {
        self.resources.contains_key(slug) || self.rates.iter().any(|rate| rate == slug)
    }
}

/// What was noted of a stage, and what came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotedStage {
    /// What claims take.
    #[serde(flatten)]
    pub stage: Stage,
    /// Batches that were formed of it so far.
    #[serde(default)]
    pub formed: FormedBatches,
}

/// Batches that were claimed, and the messages in them: those of attempts that failed, too.
///
/// ```
/// use pgflow_machine::permit::FormedBatches;
///
/// let mut formed = FormedBatches::default();
/// assert_eq!(formed.fill(), None);
/// formed += FormedBatches { batches: 2, messages: 65 };
/// assert_eq!(formed.fill(), Some(32.5));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormedBatches {
    /// How many there were.
    pub batches: u64,
    /// How many messages were in them.
    pub messages: u64,
}

impl FormedBatches {
    /// How many messages a batch had, if there was one.
    #[expect(clippy::cast_precision_loss, reason = "nobody counts that far")]
    pub fn fill(self) -> Option<f64> {
        (self.batches > 0).then(|| self.messages as f64 / self.batches as f64)
    }
}

impl AddAssign for FormedBatches {
    fn add_assign(&mut self, more: Self) {
        self.batches = self.batches.saturating_add(more.batches);
        self.messages = self.messages.saturating_add(more.messages);
    }
}

/// A message that is ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Its job.
    pub job: JobId,
    /// Greater ones go first.
    pub priority: i32,
    /// Its place in line.
    pub seq: i64,
    /// Since when it could have been taken.
    pub since: Timestamp,
    /// How large its payload is.
    pub bytes: u64,
    /// Which batches it may be in.
    pub batch_key: Option<String>,
    /// What an attempt at it holds, besides what the stage says.
    pub resources: Units,
    /// It keeps its key waiting until then.
    pub not_before: Option<Timestamp>,
    /// How many workers in a row were lost with it.
    pub streak: u32,
}

impl Waiting {
    /// Its place in the queue.
    pub fn place(&self) -> Place {
        (self.priority, self.seq)
    }

    /// Whether it was lost with a worker, and nothing has come of it since. Perhaps that was its doing: it goes alone, so that it takes none
    /// of its neighbours along.
    fn is_lost(&self) -> bool {
        self.streak > 0
    }
}

/// A place in a queue: a priority, then a number.
pub type Place = (i32, i64);

/// Whether a place is behind another one.
///
/// ```
/// use pgflow_machine::permit::is_behind;
///
/// assert!(is_behind((4, 1), (5, 9)) && is_behind((5, 9), (5, 1)));
/// assert!(!is_behind((5, 9), (5, 9)));
/// ```
pub fn is_behind(one: Place, other: Place) -> bool {
    let key = |(priority, seq): Place| (Reverse(priority), seq);
    key(one) > key(other)
}

/// Whether a page of messages may have ended because of their bytes, with more behind it: a store that has to read payloads to
/// measure them reads no more at once than a claim hands out.
pub fn is_cut(page: &[Waiting]) -> bool {
    page.iter().fold(0_u64, |all, waiting| all.saturating_add(waiting.bytes)) >= CLAIM_BYTES as u64
}

/// Messages for one attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pick {
    /// In their order.
    pub jobs: Vec<JobId>,
    /// Why it is a batch, if it is one.
    pub trigger: Option<Trigger>,
    /// Since when its oldest message could have been taken.
    pub since: Timestamp,
    /// What it holds.
    pub units: Units,
    /// The number of each grant.
    pub fences: BTreeMap<String, u64>,
}

/// What a claim takes.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// An attempt each.
    pub picks: Vec<Pick>,
    /// When there may be more, as far as time decides.
    pub next: Option<Timestamp>,
    /// What is left of resources.
    pub rooms: Rooms,
    /// Rates, before anything is taken of them: not all of the attempts may be had.
    pub buckets: BTreeMap<String, Bucket>,
}

impl Plan {
    /// What is left of rates if so many attempts were planned at a moment, and had only later.
    pub fn left(&self, attempts: usize, at: Timestamp, had: Timestamp) -> BTreeMap<String, Bucket> {
        let mut left = self.buckets.clone();
        let taken = u32::try_from(attempts).unwrap_or(u32::MAX);
        for bucket in left.values_mut().filter(|_| taken > 0) {
            bucket.take(at, taken);
            bucket.had_late(at, had);
        }
        left
    }
}

/// Looks at messages, page by page, and picks.
#[derive(Debug)]
pub struct Planner<'s> {
    stage: &'s Stage,
    now: Timestamp,
    /// Attempts that there is room for.
    room: usize,
    /// Whether rates leave less room than there would be.
    is_slowed: bool,
    /// Bytes of payload that it still hands out.
    left: u64,
    plan: Plan,
    groups: BTreeMap<Option<String>, Group>,
    /// Messages that are batches of their own, since they were lost with their workers.
    lost: Vec<Waiting>,
    /// Whether whoever asks works on one that was lost, or has got one by now.
    has_lost: bool,
}

impl<'s> Planner<'s> {
    /// For so many attempts, with what is there of resources and rates.
    pub fn new(
        stage: &'s Stage,
        max: u32,
        now: Timestamp,
        rooms: Rooms,
        buckets: BTreeMap<String, Bucket>,
    ) -> Self {
        let tokens = buckets.values().map(|bucket| bucket.available(now)).min();
        let room = tokens.map_or(max, |tokens| tokens.min(max)) as usize;
        let (is_slowed, left) = (room < max as usize, CLAIM_BYTES as u64);
        let plan = Plan { rooms, buckets, ..Plan::default() };
        let (groups, lost, has_lost) = (BTreeMap::new(), Vec::new(), stage.has_lost);
        Self { stage, now, room, is_slowed, left, plan, groups, lost, has_lost }
    }

    /// More resources, which messages of the next page name.
    pub fn know(
        &mut self,
        resources: BTreeMap<String, Resource>,
        held: impl IntoIterator<Item = (String, u32)>,
    ) {
        self.plan.rooms.add(resources, held);
    }

    /// Whether it needs to see no more messages.
    pub fn is_full(&self) -> bool {
        let is_stuck = !self.plan.rooms.fit(&self.stage.resources);
        let (ripe, bytes) = self.ripe();
        is_stuck || self.plan.picks.len().max(ripe) >= self.room || bytes >= CLAIM_BYTES as u64
    }

    /// Batches that are ripe whatever comes, and their bytes.
    fn ripe(&self) -> (usize, u64) {
        let each = self.groups.values().map(|group| group.ripe(|oldest| self.is_due(oldest)));
        each.fold((0, 0), |(ripe, bytes), (more, theirs)| {
            (ripe + more, bytes.saturating_add(theirs))
        })
    }

    /// Whether a batch is ripe whose oldest message could be taken since then, whatever else is in it.
    fn is_due(&self, oldest: Timestamp) -> bool {
        let has_waited = |rule: &BatchRule| oldest + rule.wait <= self.now;
        self.stage.drains || self.stage.batch.as_ref().is_some_and(has_waited)
    }

    /// How many more attempts it has room for, besides those that are ripe.
    pub fn lacks(&self) -> usize {
        self.room.saturating_sub(self.ripe().0)
    }

    /// Keys of batches of which there may be more behind what was seen, up to so many: those that have waited longest come first. With
    /// `is_due`, only those that are ripe by time, with whatever is there.
    pub fn open_keys(&self, most: usize, is_due: bool) -> Vec<String> {
        let open = self.groups.iter().filter_map(|(key, group)| {
            let (key, oldest) = (key.as_ref()?, group.oldest_open()?);
            let is_wanted = !is_due || self.is_due(oldest);
            (is_wanted && !group.is_whole()).then_some((oldest, key))
        });
        let mut open: Vec<_> = open.collect();
        open.sort();
        open.into_iter().take(most).map(|(_, key)| key.clone()).collect()
    }

    /// How many messages of a page, from the first on, are of so many keys at most of which more would have to be looked for.
    pub fn of_keys(&self, page: &[Waiting], most: usize) -> usize {
        let mut keys = BTreeSet::new();
        let is_one_more = |waiting: &Waiting| {
            let group = self.groups.get(&waiting.batch_key);
            if waiting.batch_key.is_some() && !group.is_some_and(Group::is_whole) {
                keys.insert(waiting.batch_key.clone());
            }
            keys.len() > most
        };
        page.iter().position(is_one_more).unwrap_or(page.len())
    }

    /// All that is there of these keys behind a place, as far as a batch goes: what was seen of them behind that place is among it.
    pub fn complete(&mut self, keys: &[String], behind: Option<Place>, more: Vec<Waiting>) {
        let Some(rule) = self.stage.batch else { return };
        for key in keys {
            if let Some(group) = self.groups.get_mut(&Some(key.clone())) {
                group.keep_until(behind, &rule);
            }
        }
        // Those that go alone are found where they are.
        self.look(more.into_iter().filter(|waiting| !waiting.is_lost()).collect());
        self.leave(keys);
    }

    /// No more of these keys is looked for.
    pub fn leave(&mut self, keys: &[String]) {
        for key in keys {
            if let Some(group) = self.groups.get_mut(&Some(key.clone())) {
                group.close();
            }
        }
    }

    /// Attempts that it has picked messages for.
    pub fn picked(&self) -> usize {
        self.plan.picks.len()
    }

    /// The first message of the attempt that was picked after so many others.
    pub fn first_pick(&self, others: usize) -> Option<&JobId> {
        self.plan.picks.get(others)?.jobs.first()
    }

    /// Looks at more messages, in their order.
    pub fn look(&mut self, page: Vec<Waiting>) {
        for mut waiting in page {
            // One that kept its key waiting could not be taken before.
            waiting.since = waiting.not_before.map_or(waiting.since, |it| it.max(waiting.since));
            if let Some(until) = waiting.not_before.filter(|until| *until > self.now) {
                self.not_before(until);
            } else if !self.fits(&waiting) {
                // It is passed over before batches are formed, so that it keeps none of them waiting.
            } else if let Some(rule) = &self.stage.batch {
                if waiting.is_lost() {
                    self.lost.push(waiting);
                } else {
                    self.groups.entry(waiting.batch_key.clone()).or_default().add(waiting, rule);
                }
            } else if self.plan.picks.len() < self.room && !(waiting.is_lost() && self.has_lost) {
                self.pick(vec![waiting], None);
            }
        }
    }

    /// Whether there is what it holds.
    fn fits(&self, waiting: &Waiting) -> bool {
        waiting.resources.is_empty() || self.plan.rooms.fit(&self.units(waiting.resources.clone()))
    }

    /// What the stage says, and what messages say besides. No units are nothing to hold.
    fn units(&self, of_messages: Units) -> Units {
        let mut units = self.stage.resources.clone();
        for (slug, more) in of_messages.into_iter().filter(|(_, units)| *units > 0) {
            let all: &mut u32 = units.entry(slug).or_default();
            *all = all.saturating_add(more);
        }
        units
    }

    /// Messages for an attempt, unless they are more than a claim hands out at once. What comes after the first that does not fit
    /// waits too: it would overtake for ever. There is one attempt in any case.
    fn pick(&mut self, messages: Vec<Waiting>, trigger: Option<Trigger>) {
        let bytes = messages.iter().fold(0_u64, |all, waiting| all.saturating_add(waiting.bytes));
        if bytes > self.left && !self.plan.picks.is_empty() {
            self.room = self.plan.picks.len();
            self.not_before(self.now);
            return;
        }
        let units = self.units(most(&messages));
        let since = messages.iter().map(|waiting| waiting.since).min().unwrap_or(self.now);
        let is_lost = messages.iter().any(Waiting::is_lost);
        let jobs = messages.into_iter().map(|waiting| waiting.job).collect();
        // One that cannot get what it needs is passed over, and the others go on.
        if let Some(fences) = self.plan.rooms.take(&units) {
            self.left = self.left.saturating_sub(bytes);
            self.has_lost |= is_lost;
            self.plan.picks.push(Pick { jobs, trigger, since, units, fences });
        }
    }

    fn not_before(&mut self, moment: Timestamp) {
        self.plan.next = Some(self.plan.next.map_or(moment, |next| next.min(moment)));
    }

    /// What the claim takes.
    pub fn done(mut self) -> Plan {
        if let Some(rule) = self.stage.batch {
            self.batches(&rule);
        }
        // If there are tokens left, it is messages that are waited for.
        if self.is_slowed && self.plan.picks.len() >= self.room {
            // A rate that is paused has no next token, whatever the others have.
            let left = self.plan.left(self.plan.picks.len(), self.now, self.now);
            let next = left.values().map(|bucket| bucket.next_at(self.now));
            let next = next.collect::<Option<Vec<_>>>().and_then(|all| all.into_iter().max());
            if let Some(next) = next {
                self.not_before(next);
            }
        }
        self.plan
    }

    /// Batches of groups that are ripe, the one that has waited longest first. Of those that go alone, there is one at a time.
    fn batches(&mut self, rule: &BatchRule) {
        let rule = &BatchRule { bytes: Some(most_bytes(rule)), ..*rule };
        let groups = std::mem::take(&mut self.groups).into_values().map(Group::into_messages);
        // Those keep the order of the line: which of them came back first says nothing.
        let first_lost = self.lost.iter().map(|waiting| waiting.since).min();
        let alone = std::mem::take(&mut self.lost).into_iter().map(|waiting| vec![waiting]);
        let mut groups: Vec<_> = groups.chain(alone).collect();
        let since =
            |waiting: &Waiting| first_lost.filter(|_| waiting.is_lost()).unwrap_or(waiting.since);
        groups.sort_by_key(|group| group.iter().map(since).min());
        for group in groups {
            if !(self.has_lost && group.iter().any(Waiting::is_lost)) {
                self.batches_of(rule, group);
            }
        }
    }

    fn batches_of(&mut self, rule: &BatchRule, mut group: Vec<Waiting>) {
        loop {
            // Batches that were picked before may have taken what some of it need.
            group.retain(|waiting| self.fits(waiting));
            match form(rule, &group, self.now, self.stage.drains) {
                Formed::Ripe { messages, trigger } if self.plan.picks.len() < self.room => {
                    let batch = group.drain(..messages).collect();
                    self.pick(batch, Some(trigger));
                }
                Formed::Later(moment) => return self.not_before(moment),
                Formed::Ripe { .. } | Formed::Nothing => return,
            }
        }
    }
}

/// Of each resource, the most that one of these names: they are used together, not one after the other.
fn most(batch: &[Waiting]) -> Units {
    let mut most = Units::new();
    for (slug, units) in batch.iter().flat_map(|waiting| &waiting.resources) {
        let all = most.entry(slug.clone()).or_default();
        *all = (*all).max(*units);
    }
    most
}
