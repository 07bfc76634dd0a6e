//! The contract about pipelines, kept by every database that keeps queues.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use pgflow_machine::job::{
    JobHold, JobId, JobProblem, JobRetry, JobSettle, JobSettled, JobVerdict, NewJob, Submitted,
    check_name,
};
use pgflow_machine::permit::{
    Bucket, FormedBatches, Message, MessageSettle, NotedStage, PermitKey, PermitKind,
    PermitProblem, Rate, Resource, Stage, Units, fits, is_of_batches, place, priority_of,
};
use pgflow_machine::{Limits, Timestamp};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::execute::again;
use super::jobs::Ready;
use super::pipeline_claim::permit_keys;
use super::{
    Access, EndedMessages, PipelineSession, QueueSession, Queues, Stored, pipeline_claim,
    step_claim,
};
use crate::backend::{
    BackendError, Claimed, ClaimedBatches, MessageRow, Pipelines, Reply, StageClaim, StepClaim,
};
use crate::tx::StepTx;

/// A boxed future of a transition, which is done again as a whole where that helps.
macro_rules! transition {
    ($store:expr, $transition:expr) => {
        Box::pin(async move { again!($store, $transition) })
    };
}

impl<S: Queues> Pipelines for S {
    fn push<'a>(
        &'a self,
        messages: &'a [Message],
        by: &'a str,
    ) -> Reply<'a, Vec<Result<Submitted, JobProblem>>> {
        transition!(self, push(self, messages, by))
    }

    fn claim_stage<'a>(&'a self, claim: &'a StageClaim) -> Reply<'a, ClaimedBatches> {
        transition!(self, pipeline_claim::claim(self, claim))
    }

    fn claim_step<'a>(&'a self, claim: &'a StepClaim) -> Reply<'a, Claimed> {
        transition!(self, step_claim::claim(self, claim))
    }

    fn settle_messages<'a>(
        &'a self,
        settles: &'a [MessageSettle],
        by: &'a str,
    ) -> Reply<'a, Vec<JobSettled>> {
        transition!(self, settle(self, settles, by))
    }

    fn begin_messages<'a>(&'a self, holds: &'a [JobHold]) -> Reply<'a, Option<StepTx>> {
        transition!(self, Queues::begin_attempt(self, holds))
    }

    fn commit_messages<'a>(
        &'a self,
        tx: StepTx,
        settles: &'a [MessageSettle],
        by: &'a str,
    ) -> Reply<'a, Vec<JobSettled>> {
        Box::pin(Queues::commit_attempt(self, tx, settles, by))
    }

    fn declare<'a>(
        &'a self,
        rates: &'a BTreeMap<String, Rate>,
        resources: &'a Units,
    ) -> Reply<'a, ()> {
        transition!(self, declare(self, rates, resources))
    }

    fn note_stages<'a>(&'a self, stages: &'a BTreeMap<String, Stage>) -> Reply<'a, ()> {
        transition!(self, note_stages(self, stages))
    }

    fn stages(&self) -> Reply<'_, BTreeMap<String, Stage>> {
        Box::pin(
            async move { permits(&mut self.begin(Access::Read).await?, PermitKind::Stage).await },
        )
    }

    fn formed(&self) -> Reply<'_, BTreeMap<String, FormedBatches>> {
        Box::pin(async move {
            let mut session = self.begin(Access::Read).await?;
            let noted: BTreeMap<_, NotedStage> = permits(&mut session, PermitKind::Stage).await?;
            let formed = noted.into_iter().map(|(need, noted)| (need, noted.formed));
            Ok(formed.filter(|(_, formed)| formed.batches > 0).collect())
        })
    }

    fn set_rate<'a>(&'a self, slug: &'a str, rate: Rate) -> Reply<'a, ()> {
        transition!(self, async {
            rate.check()?;
            change(self, PermitKind::Rate, slug, |found: Option<Bucket>, now| {
                let mut bucket = found.unwrap_or(Bucket::new(rate));
                bucket.set(rate, now);
                bucket
            })
            .await
        })
    }

    fn rate<'a>(&'a self, slug: &'a str) -> Reply<'a, Option<Bucket>> {
        Box::pin(async move {
            let mut session = self.begin(Access::Read).await?;
            permit(&mut session, PermitKind::Rate, slug).await
        })
    }

    fn rates(&self) -> Reply<'_, BTreeMap<String, Bucket>> {
        Box::pin(
            async move { permits(&mut self.begin(Access::Read).await?, PermitKind::Rate).await },
        )
    }

    fn set_capacity<'a>(&'a self, slug: &'a str, capacity: u32) -> Reply<'a, ()> {
        transition!(self, async {
            if capacity == 0 {
                return Err(PermitProblem::NoCapacity(slug.to_owned()).into());
            }
            change(self, PermitKind::Resource, slug, |found: Option<Resource>, _| {
                Resource::of(capacity, found)
            })
            .await
        })
    }

    fn resource<'a>(&'a self, slug: &'a str) -> Reply<'a, Option<(Resource, u32)>> {
        Box::pin(async move {
            let mut session = self.begin(Access::Read).await?;
            let found: Option<Resource> = permit(&mut session, PermitKind::Resource, slug).await?;
            let Some(resource) = found else { return Ok(None) };
            let holds = session.load_holds(&[slug.to_owned()].into()).await?;
            let held = pipeline_claim::held(holds);
            Ok(Some((resource, held.into_iter().map(|(_, units)| units).sum())))
        })
    }

    fn resources(&self) -> Reply<'_, BTreeMap<String, (Resource, u32)>> {
        Box::pin(async move {
            let mut session = self.begin(Access::Read).await?;
            let all: BTreeMap<String, Resource> =
                permits(&mut session, PermitKind::Resource).await?;
            let slugs = all.keys().cloned().collect();
            let mut all: BTreeMap<_, _> =
                all.into_iter().map(|(slug, resource)| (slug, (resource, 0))).collect();
            let holds = session.load_holds(&slugs).await?;
            for (slug, units) in pipeline_claim::held(holds) {
                if let Some((_, held)) = all.get_mut(&slug) {
                    *held += units;
                }
            }
            Ok(all)
        })
    }

    fn is_fair<'a>(&'a self, need: &'a str) -> Reply<'a, bool> {
        Box::pin(async move {
            let round = PermitKey::round(need);
            let mut session = self.begin(Access::Read).await?;
            Ok(!session.load_permits(&[round].into()).await?.is_empty())
        })
    }

    fn depth<'a>(&'a self, needs: &'a [String], most: u64) -> Reply<'a, u64> {
        Box::pin(async move {
            let mut session = self.begin(Access::Read).await?;
            let mut depth = 0;
            for need in needs {
                depth += session.depth(need, most - depth).await?;
            }
            Ok(depth)
        })
    }

    fn message<'a>(&'a self, id: &'a JobId) -> Reply<'a, Option<MessageRow>> {
        Box::pin(async move { self.begin(Access::Read).await?.message(id).await })
    }

    fn prune_turns<'a>(&'a self, need: &'a str, max: u32) -> Reply<'a, u64> {
        transition!(self, async {
            let mut session = self.begin_for_client().await?;
            let pruned = session.drop_turns(need, max).await?;
            self.commit(session).await?;
            Ok(pruned)
        })
    }

    fn drop_dead<'a>(&'a self, messages: &'a [JobId]) -> Reply<'a, u64> {
        transition!(self, async {
            let mut session = self.begin_for_client().await?;
            let dropped = session.forget_dead(messages).await?;
            self.commit(session).await?;
            Ok(dropped)
        })
    }

    fn prune_dead<'a>(&'a self, need: &'a str, older_than: Duration, max: u32) -> Reply<'a, u64> {
        transition!(self, prune_dead(self, need, older_than, max))
    }
}

async fn prune_dead<S: Queues>(
    store: &S,
    need: &str,
    older_than: Duration,
    max: u32,
) -> Stored<u64> {
    let mut session = store.begin_for_client().await?;
    let old = session.long_dead(need, older_than, max).await?;
    let pruned = session.forget_dead(&old).await?;
    store.commit(session).await?;
    Ok(pruned)
}

/// What a row of permits says. What cannot be read was written by others.
pub(super) fn read<T: DeserializeOwned>(value: Value) -> Stored<T> {
    serde_json::from_value(value).map_err(|error| BackendError::Refused(Box::new(error)))
}

pub(super) fn written<T: Serialize>(value: &T) -> Stored<Value> {
    serde_json::to_value(value).map_err(|error| BackendError::Refused(Box::new(error)))
}

async fn permit<S: PipelineSession, T: DeserializeOwned>(
    session: &mut S,
    kind: PermitKind,
    slug: &str,
) -> Stored<Option<T>> {
    let mut found = session.load_permits(&[PermitKey::new(kind, slug)].into()).await?;
    found.pop_first().map(|(_, value)| read(value)).transpose()
}

/// All permits of a kind, by name.
async fn permits<S: PipelineSession, T: DeserializeOwned>(
    session: &mut S,
    kind: PermitKind,
) -> Stored<BTreeMap<String, T>> {
    let found = session.permits_of(kind).await?;
    found.into_iter().map(|(name, value)| Ok((name, read(value)?))).collect()
}

/// Changes a permit, or adds it.
async fn change<S: Queues, T: DeserializeOwned + Serialize>(
    store: &S,
    kind: PermitKind,
    slug: &str,
    change: impl FnOnce(Option<T>, Timestamp) -> T,
) -> Stored<()> {
    check_name(slug).map_err(|why| PermitProblem::Name { what: kind.word(), why })?;
    let mut session = store.begin_for_client().await?;
    let found = permit(&mut session, kind, slug).await?;
    let now = session.now();
    let row = (PermitKey::new(kind, slug), written(&change(found, now))?);
    session.write_permits(&[row].into()).await?;
    store.commit(session).await?;
    store.tell(Ready { permits: [slug.to_owned()].into(), ..Ready::default() }).await;
    Ok(())
}

async fn declare<S: Queues>(
    store: &S,
    rates: &BTreeMap<String, Rate>,
    resources: &Units,
) -> Stored<()> {
    let mut session = store.begin_for_client().await?;
    let found = capacities(&mut session, resources.keys().cloned().collect()).await?;
    fits(resources, &found).map_err(PermitProblem::Job)?;
    let keys = rates.keys().map(|slug| PermitKey::new(PermitKind::Rate, slug)).collect();
    let mut found = session.load_permits(&keys).await?;
    let mut rows = BTreeMap::new();
    for (key, (slug, rate)) in keys.into_iter().zip(rates) {
        rate.check()?;
        check_name(slug).map_err(|why| PermitProblem::Name { what: "rate", why })?;
        let found: Option<Bucket> = found.remove(&key).map(read).transpose()?;
        let mut bucket = found.unwrap_or(Bucket::new(*rate));
        bucket.declare(*rate, session.now());
        rows.insert(key, written(&bucket)?);
    }
    session.write_permits(&rows).await?;
    store.commit(session).await
}

/// Most programs note what is noted already, or that there is nothing to note: those write nothing.
async fn note_stages<S: Queues>(store: &S, stages: &BTreeMap<String, Stage>) -> Stored<()> {
    let mut session = store.begin_for_client().await?;
    let keys = stages.keys().map(|need| PermitKey::new(PermitKind::Stage, need)).collect();
    let mut found = session.load_permits(&keys).await?;
    let mut rows = BTreeMap::new();
    for (key, (need, stage)) in keys.into_iter().zip(stages) {
        check_name(need).map_err(|why| PermitProblem::Name { what: "queue", why })?;
        let mut noted: NotedStage = found.remove(&key).map(read).transpose()?.unwrap_or_default();
        if noted.stage != *stage {
            noted.stage = stage.clone();
            rows.insert(key, written(&noted)?);
        }
    }
    if rows.is_empty() {
        return Ok(());
    }
    session.write_permits(&rows).await?;
    store.commit(session).await
}

async fn push<S: Queues>(
    store: &S,
    messages: &[Message],
    by: &str,
) -> Stored<Vec<Result<Submitted, JobProblem>>> {
    let is_job = |message: &Message| {
        message.fair.is_none() && message.columns.is_empty() && !is_of_batches(&message.job.need)
    };
    if messages.iter().all(is_job) {
        // They are nothing but jobs.
        let jobs: Vec<_> = messages.iter().map(|message| message.job.clone()).collect();
        return store.submit_jobs(&jobs, by).await;
    }
    let limits = store.limits().await?;
    let mut session = store.begin_for_client().await?;
    let (answers, ready) = push_in(&mut session, messages, by, limits).await?;
    store.commit(session).await?;
    store.tell(ready).await;
    Ok(answers)
}

/// Pushes a message in a transaction of the application, whose workers find it at their next look.
pub async fn push_in_transaction<S: QueueSession>(
    session: &mut S,
    message: &Message,
    by: &str,
    limits: Limits,
) -> Stored<Result<Submitted, JobProblem>> {
    let (answers, _) = push_in(session, std::slice::from_ref(message), by, limits).await?;
    Ok(answers.into_iter().next().unwrap_or(Ok(Submitted::Exists)))
}

/// Pushes messages in a transaction that may write.
async fn push_in<S: QueueSession>(
    session: &mut S,
    messages: &[Message],
    by: &str,
    limits: Limits,
) -> Stored<(Vec<Result<Submitted, JobProblem>>, Ready)> {
    check_name(by).map_err(|why| JobProblem::Name { what: "caller", why })?;
    let looked_at = look_at(session, messages, &limits).await?;
    let jobs: Vec<_> = looked_at.iter().flatten().cloned().collect();
    let (answers, ready) = session.submit(&jobs, by, limits).await?;
    let mut answers = answers.into_iter();
    let all = looked_at.into_iter().map(|job| match job {
        Ok(_) => answers.next().unwrap_or(Ok(Submitted::Exists)),
        Err(problem) => Err(problem),
    });
    let all: Vec<_> = all.collect();
    let is_new = |(_, answer): &(&Message, &Result<_, _>)| **answer == Ok(Submitted::Submitted);
    let new = messages.iter().zip(&all).filter(is_new).map(|(message, _)| message);
    let kept: BTreeMap<_, _> = new.filter_map(kept).collect();
    if !kept.is_empty() {
        session.write_messages(&kept).await?;
    }
    Ok((all, ready))
}

/// Jobs of messages, with their places in fair queues, or what is wrong with them.
async fn look_at<S: QueueSession>(
    session: &mut S,
    messages: &[Message],
    limits: &Limits,
) -> Stored<Vec<Result<NewJob, JobProblem>>> {
    let named = messages.iter().flat_map(|message| message.columns.resources.keys());
    let known = capacities(session, named.cloned().collect()).await?;
    let stages = stages_of(session, messages).await?;
    let (mut found, mut rows) = (places_of(session, messages).await?, BTreeMap::new());
    let mut jobs = Vec::with_capacity(messages.len());
    for message in messages {
        let checked = message.check(limits);
        let checked = checked.and_then(|()| fits(&held_by(message, &stages), &known));
        if let Err(problem) = checked {
            jobs.push(Err(problem));
            continue;
        }
        let mut job = message.job.clone();
        if let Some(place) = fair_place(&found, message)? {
            job.priority = priority_of(place);
            for key in turns(message) {
                found.insert(key.clone(), place.into());
                rows.insert(key, place.into());
            }
            let round = PermitKey::round(&message.job.need);
            if !found.contains_key(&round) {
                found.insert(round.clone(), 0.into());
                rows.insert(round, 0.into());
            }
        }
        jobs.push(Ok(job));
    }
    if !rows.is_empty() {
        session.write_permits(&rows).await?;
    }
    Ok(jobs)
}

/// How much there is of resources, as far as they are there.
async fn capacities<S: PipelineSession>(
    session: &mut S,
    slugs: BTreeSet<String>,
) -> Stored<BTreeMap<String, u32>> {
    if slugs.is_empty() {
        return Ok(BTreeMap::new());
    }
    let keys = permit_keys(PermitKind::Resource, &slugs);
    let found = session.known_permits(&keys).await?.into_iter();
    found.map(|(key, value)| Ok((key.name, read::<Resource>(value)?.capacity))).collect()
}

/// What claims of queues take whose messages name resources, by queue, as far as programs have noted it.
async fn stages_of<S: PipelineSession>(
    session: &mut S,
    messages: &[Message],
) -> Stored<BTreeMap<String, Stage>> {
    let named = messages.iter().filter(|message| !message.columns.resources.is_empty());
    let keys = permit_keys(PermitKind::Stage, named.map(|message| &message.job.need));
    if keys.is_empty() {
        return Ok(BTreeMap::new());
    }
    let found = session.known_permits(&keys).await?.into_iter();
    found.map(|(key, value)| Ok((key.name, read(value)?))).collect()
}

/// What an attempt at a message holds of the resources that it names: what its stage holds comes on top.
fn held_by(message: &Message, stages: &BTreeMap<String, Stage>) -> Units {
    let of_stage = stages.get(&message.job.need).map(|stage| &stage.resources);
    let units = |(slug, units): (&String, &u32)| {
        let more = of_stage.filter(|_| *units > 0).and_then(|held| held.get(slug)).copied();
        (slug.clone(), units.saturating_add(more.unwrap_or_default()))
    };
    message.columns.resources.iter().map(units).collect()
}

/// How far fair queues and their keys are.
async fn places_of<S: QueueSession>(
    session: &mut S,
    messages: &[Message],
) -> Stored<BTreeMap<PermitKey, Value>> {
    let mut wanted = BTreeSet::new();
    for message in messages.iter().filter(|message| message.fair.is_some()) {
        wanted.insert(PermitKey::round(&message.job.need));
        wanted.extend(turns(message));
    }
    if wanted.is_empty() { Ok(BTreeMap::new()) } else { session.load_permits(&wanted).await }
}

/// Its fair key, and the key that is served in order, whose messages must not overtake each other.
fn turns(message: &Message) -> impl Iterator<Item = PermitKey> {
    let queue = &message.job.need;
    let fair = message.fair.as_ref().map(|key| PermitKey::turn(queue, &format!("fair:{key}")));
    let serial = message.job.key.as_ref().filter(|_| message.fair.is_some());
    let serial = serial.map(|key| PermitKey::turn(queue, &format!("serial:{key}")));
    fair.into_iter().chain(serial)
}

fn fair_place(found: &BTreeMap<PermitKey, Value>, message: &Message) -> Stored<Option<u32>> {
    if message.fair.is_none() {
        return Ok(None);
    }
    let number = |key: &PermitKey| found.get(key).cloned().map(read::<u32>).transpose();
    let round = number(&PermitKey::round(&message.job.need))?.unwrap_or_default();
    let mut lasts = turns(message).map(|key| number(&key));
    let last = lasts.next().transpose()?.flatten();
    let not_before = lasts.next().transpose()?.flatten();
    Ok(Some(place(round, last, not_before)))
}

/// What claims have to know of a new message, if that is anything.
fn kept(message: &Message) -> Option<(JobId, MessageRow)> {
    let columns = Some(message.columns.kept()).filter(|columns| !columns.is_empty())?;
    let (batch_key, resources) = (columns.batch_key, columns.resources);
    Some((message.job.id.clone(), MessageRow { batch_key, resources, not_before: None }))
}

async fn settle<S: Queues>(
    store: &S,
    settles: &[MessageSettle],
    by: &str,
) -> Stored<Vec<JobSettled>> {
    check_name(by).map_err(|why| JobProblem::Name { what: "caller", why })?;
    let limits = store.limits().await?;
    let mut session = store.begin(Access::Write).await?;
    let (answers, ready) = settle_in(&mut session, settles, by, limits).await?;
    store.commit(session).await?;
    store.tell(ready).await;
    Ok(answers)
}

/// Settles messages in a transaction that is open.
pub async fn settle_in<S: QueueSession>(
    session: &mut S,
    settles: &[MessageSettle],
    by: &str,
    limits: Limits,
) -> Stored<(Vec<JobSettled>, Ready)> {
    let mut refused = BTreeMap::new();
    let mut jobs = Vec::with_capacity(settles.len());
    let emits: Vec<_> = settles.iter().flat_map(|settle| settle.end.emits.clone()).collect();
    let mut looked_at = look_at(session, &emits, &limits).await?.into_iter();
    for (at, settle) in settles.iter().enumerate() {
        let of_it = looked_at.by_ref().take(settle.end.emits.len()).collect::<Vec<_>>();
        let of_it = of_it.into_iter().collect::<Result<Vec<_>, _>>();
        // The job's own columns are checked with it; what is kept besides is not.
        match settle.end.check_key().and(of_it) {
            Ok(submits) => {
                let (hold, verdict) = (settle.hold.clone(), verdict(settle));
                jobs.push(JobSettle { hold, verdict, submits });
            }
            Err(problem) => drop(refused.insert(at, problem)),
        }
    }
    let (answers, mut ready) = session.settle(&jobs, by, limits).await?;
    let mut answers = answers.into_iter();
    let answers: Vec<_> = (0..settles.len())
        .map(|at| match refused.remove(&at) {
            Some(problem) => JobSettled::Refused(problem),
            None => answers.next().unwrap_or(JobSettled::Unknown),
        })
        .collect();
    let ended = ended(session.now(), settles.iter().zip(&answers));
    // Whoever waits for them may be at another queue.
    ready.permits.extend(session.end_messages(&ended).await?);
    Ok((answers, ready))
}

/// A message that blocks its key stays at the head of its line, and is passed over until it is due.
fn verdict(settle: &MessageSettle) -> JobVerdict {
    match &settle.end.verdict {
        JobVerdict::Failed { error, retry: JobRetry::After(_) } if settle.end.blocks => {
            let retry = JobRetry::After(std::time::Duration::ZERO);
            JobVerdict::Failed { error: error.clone(), retry }
        }
        verdict => verdict.clone(),
    }
}

/// What changes about messages besides their jobs.
fn ended<'s>(
    now: Timestamp,
    settled: impl Iterator<Item = (&'s MessageSettle, &'s JobSettled)>,
) -> EndedMessages {
    let mut ended = EndedMessages::default();
    for (settle, answer) in settled {
        if !matches!(answer, JobSettled::Refused(_)) {
            ended.tokens.push(settle.hold.token.clone());
        }
        if *answer != JobSettled::Applied {
            continue;
        }
        let (id, end) = (settle.hold.job.clone(), &settle.end);
        ended.kept.extend(end.emits.iter().filter_map(kept));
        match &end.verdict {
            JobVerdict::Finished(_) => ended.over.push(id),
            JobVerdict::HandedOver(_) if end.batch_key.is_none() => ended.over.push(id),
            JobVerdict::HandedOver(_) => {
                let batch_key = end.batch_key.clone();
                ended.kept.insert(id, MessageRow { batch_key, ..MessageRow::default() });
            }
            JobVerdict::Failed { retry: JobRetry::After(delay), .. } if end.blocks => {
                ended.deferred.insert(id, now + *delay);
            }
            JobVerdict::Failed { .. } | JobVerdict::Released => {}
        }
    }
    ended
}
