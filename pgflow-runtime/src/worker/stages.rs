//! Messages of queues beside tasks and jobs, in one trip.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pgflow_machine::job::{JobBeat, JobHold, JobRetry, JobSettled, JobVerdict};
use pgflow_machine::permit::{MessageEnd, MessageLease, MessageSettle};
use pgflow_machine::{Beat, Lease, Retry, Settle, Settled, Verdict, Want, WorkerId};

use super::kinds;
use crate::backend::{
    Backend, BackendError, Claim, Claimed, LEASE, Settlement, Source, StageClaim, StepClaim,
};

/// Before the next attempt at a message whose function did not come to an end of its own.
const PAUSE: Duration = Duration::from_secs(5);

/// Stages and other kinds of work come first in turn, and so do stages among themselves.
static CLAIMS: AtomicUsize = AtomicUsize::new(0);

pub(super) fn is_stage(want: &Want) -> bool {
    want.stage.is_some()
}

/// Claims of every kind that is wanted, for one room.
pub(super) async fn claim(backend: &dyn Backend, claim: &Claim) -> Result<Claimed, BackendError> {
    if !claim.wants.iter().any(is_stage) {
        return kinds::claim(backend, claim).await;
    }
    let (mut stages, others): (Vec<_>, Vec<_>) = claim.wants.iter().cloned().partition(is_stage);
    // What may be claimed ahead is for the stages that say so.
    let ahead: u32 = stages.iter().map(|want| want.ahead).sum();
    let claim = &Claim { max: claim.max.saturating_sub(ahead), ..claim.clone() };
    let others = Claim { wants: others, ..claim.clone() };
    let (turn, mut claimed) = (CLAIMS.fetch_add(1, Ordering::Relaxed), Claimed::default());
    let is_first = turn.is_multiple_of(2);
    if is_first {
        claim_others(backend, &others, &mut claimed).await?;
    }
    let first = (turn / 2) % stages.len().max(1);
    stages.rotate_left(first);
    for want in &stages {
        let room = room(claim, &claimed).saturating_add(want.ahead);
        let got = claim_stage(backend, claim, want, room).await;
        merge(&mut claimed, got)?;
    }
    if !is_first {
        claim_others(backend, &others, &mut claimed).await?;
    }
    Ok(claimed)
}

async fn claim_others(
    backend: &dyn Backend,
    others: &Claim,
    claimed: &mut Claimed,
) -> Result<(), BackendError> {
    let max = room(others, claimed);
    if others.wants.is_empty() || max == 0 {
        return Ok(());
    }
    merge(claimed, kinds::claim(backend, &Claim { max, ..others.clone() }).await)
}

async fn claim_stage(
    backend: &dyn Backend,
    claim: &Claim,
    want: &Want,
    room: u32,
) -> Result<Claimed, BackendError> {
    let max = want.quotas.first().map_or(room, |quota| quota.max.min(room));
    let Some(stage) = want.stage.as_ref().filter(|_| max > 0) else {
        return Ok(Claimed::default());
    };
    let need = match &want.source {
        Source::Need(need) => need,
        Source::Queue(flow) => return claim_step(backend, claim, flow, want, max).await,
    };
    let claim = StageClaim {
        lease: want.lease.unwrap_or(LEASE),
        stage: stage.clone(),
        ..StageClaim::new(&claim.worker.0.to_string(), need, max)
    };
    let got = backend.pipelines()?.claim_stage(&claim).await?;
    Ok(Claimed { batches: got.batches, next_in: got.next_in, ..Claimed::default() })
}

/// Tasks of the step that a want names first.
async fn claim_step(
    backend: &dyn Backend,
    claim: &Claim,
    flow: &str,
    want: &Want,
    max: u32,
) -> Result<Claimed, BackendError> {
    let (Some((step, others)), Some(stage)) = (want.quotas.split_first(), &want.stage) else {
        return Ok(Claimed::default());
    };
    let claim = StepClaim {
        worker: claim.worker,
        flow: flow.to_owned(),
        step: step.step.clone(),
        others: others.iter().map(|other| other.step.clone()).collect(),
        max,
        stage: stage.clone(),
    };
    backend.pipelines()?.claim_step(&claim).await
}

fn room(claim: &Claim, claimed: &Claimed) -> u32 {
    claim.max.saturating_sub(u32::try_from(claimed.len()).unwrap_or(u32::MAX))
}

/// Adds what was claimed. An error counts only while there is nothing: what was claimed already must not get lost.
fn merge(claimed: &mut Claimed, more: Result<Claimed, BackendError>) -> Result<(), BackendError> {
    match more {
        Ok(more) => {
            claimed.tasks.extend(more.tasks);
            claimed.jobs.extend(more.jobs);
            claimed.batches.extend(more.batches);
            claimed.next_in = [claimed.next_in, more.next_in].into_iter().flatten().min();
            claimed.is_partial |= more.is_partial;
            Ok(())
        }
        Err(error) if claimed.is_empty() => Err(error),
        Err(error) => {
            tracing::warn!(%error, "a part of a claim failed");
            claimed.is_partial = true;
            Ok(())
        }
    }
}

/// Settles, and claims more.
pub(super) async fn settle(
    backend: &dyn Backend,
    worker: WorkerId,
    settles: &[Settle],
    next: Option<&Claim>,
) -> Result<Settlement, BackendError> {
    let is_message = |at: &usize| matches!(settles[*at].lease, Lease::Messages(_));
    let (messages, others): (Vec<_>, Vec<_>) = (0..settles.len()).partition(is_message);
    let has_stages = next.is_some_and(|claim| claim.wants.iter().any(is_stage));
    if messages.is_empty() && !has_stages {
        return kinds::settle(backend, worker, settles, next).await;
    }
    let mut settled = vec![Settled::Unknown; settles.len()];
    // First, because what is claimed with tasks must not get lost when messages can't be settled.
    if !messages.is_empty() {
        let batch: Vec<_> = messages.iter().map(|at| &settles[*at]).collect();
        for (at, outcome) in messages.iter().zip(settle_messages(backend, worker, &batch).await?) {
            settled[*at] = outcome;
        }
    }
    let mut claimed = Claimed::default();
    if !others.is_empty() || (next.is_some() && !has_stages) {
        let batch: Vec<_> = others.iter().map(|at| settles[*at].clone()).collect();
        let next = next.filter(|_| !has_stages);
        let work = kinds::settle(backend, worker, &batch, next).await?;
        for (at, outcome) in others.iter().zip(work.settled) {
            settled[*at] = outcome;
        }
        claimed = work.claimed;
    }
    if let Some(next) = next.filter(|_| has_stages) {
        // What is recorded is recorded: that nothing is claimed now is no reason to say it again.
        merge(
            &mut claimed,
            claim(backend, next).await.or_else(|error| {
                tracing::warn!(%error, "a claim after results failed");
                Ok(Claimed { is_partial: true, ..Claimed::default() })
            }),
        )?;
    }
    Ok(Settlement { settled, claimed })
}

/// Settles the messages of attempts, in one transaction, with an outcome per attempt. What can't be as it was said is failed with the
/// reason.
async fn settle_messages(
    backend: &dyn Backend,
    worker: WorkerId,
    settles: &[&Settle],
) -> Result<Vec<Settled>, BackendError> {
    let (queues, by) = (backend.pipelines()?, worker.0.to_string());
    let by_attempt: Vec<Vec<_>> = settles
        .iter()
        .map(|settle| match &settle.lease {
            Lease::Messages(lease) => message_settles(lease, &settle.verdict),
            Lease::Task(_) | Lease::Job { .. } => Vec::new(),
        })
        .collect();
    let batch = by_attempt.concat();
    let mut answers = queues.settle_messages(&batch, &by).await?;
    let refused = batch.iter().zip(&answers).enumerate().filter_map(|(at, (settle, answer))| {
        let JobSettled::Refused(problem) = answer else { return None };
        let error = format!("what comes next cannot be: {problem}");
        tracing::error!(message = %settle.hold.job, error, "the end of an attempt was refused");
        let end = JobVerdict::Failed { error, retry: JobRetry::Never }.into();
        Some((at, MessageSettle { end, ..settle.clone() }))
    });
    let (places, refused): (Vec<_>, Vec<_>) = refused.unzip();
    if !refused.is_empty() {
        let again = queues.settle_messages(&refused, &by).await?;
        places.into_iter().zip(again).for_each(|(at, answer)| answers[at] = answer);
    }
    let mut answers = &answers[..];
    let of_attempt = |attempt: &Vec<_>| {
        let (of_it, rest) = answers.split_at(attempt.len());
        answers = rest;
        outcome(of_it)
    };
    Ok(by_attempt.iter().map(of_attempt).collect())
}

/// What became of the attempt: it counts if it did for one of its messages.
fn outcome(answers: &[JobSettled]) -> Settled {
    let any = |of: fn(&JobSettled) -> bool| answers.iter().any(of);
    if any(|answer| *answer == JobSettled::Applied) {
        Settled::Applied
    } else if any(|answer| *answer == JobSettled::AlreadySettled) {
        Settled::AlreadySettled
    } else if any(|answer| *answer == JobSettled::Cancelled) {
        Settled::RunEnded
    } else if any(|answer| *answer == JobSettled::Fenced) {
        Settled::Fenced
    } else {
        Settled::Unknown
    }
}

fn message_settles(lease: &MessageLease, verdict: &Verdict) -> Vec<MessageSettle> {
    let end = |at: usize| -> MessageEnd {
        match verdict {
            Verdict::Messages(ends) => {
                ends.get(at).cloned().unwrap_or_else(|| JobVerdict::Released.into())
            }
            Verdict::Failed { error, retry } => {
                let retry = match retry {
                    Retry::ByPolicy => JobRetry::After(PAUSE),
                    Retry::After(delay) => JobRetry::After(*delay),
                    Retry::Never => JobRetry::Never,
                };
                JobVerdict::Failed { error: error.clone(), retry }.into()
            }
            Verdict::Completed(_)
            | Verdict::Released
            | Verdict::Yielded { .. }
            | Verdict::Job(_) => JobVerdict::Released.into(),
        }
    };
    let settle = |(at, hold): (usize, &JobHold)| MessageSettle {
        hold: hold.clone(),
        need: lease.need.clone(),
        end: end(at),
    };
    lease.holds.iter().enumerate().map(settle).collect()
}

/// Beats for every kind.
pub(super) async fn beat(
    backend: &dyn Backend,
    leases: &[Lease],
) -> Result<Vec<Beat>, BackendError> {
    let is_message = |at: &usize| matches!(leases[*at], Lease::Messages(_));
    let (messages, others): (Vec<_>, Vec<_>) = (0..leases.len()).partition(is_message);
    if messages.is_empty() {
        return kinds::beat(backend, leases).await;
    }
    let mut beats = vec![Beat::Lost; leases.len()];
    let mut by_length: BTreeMap<Duration, Vec<(usize, &[JobHold])>> = BTreeMap::new();
    for at in messages {
        if let Lease::Messages(lease) = &leases[at] {
            by_length.entry(lease.lasts).or_default().push((at, &lease.holds));
        }
    }
    for (lasts, held) in by_length {
        let holds: Vec<_> = held.iter().flat_map(|(_, holds)| holds.iter().cloned()).collect();
        let answers = backend.jobs()?.beat_jobs(&holds, lasts).await?;
        let mut answers = answers.into_iter();
        for (at, holds) in held {
            let of_it: Vec<_> = answers.by_ref().take(holds.len()).collect();
            beats[at] = together(&of_it);
        }
    }
    if !others.is_empty() {
        let batch: Vec<_> = others.iter().map(|at| leases[*at].clone()).collect();
        for (at, beat) in others.iter().zip(kinds::beat(backend, &batch).await?) {
            beats[*at] = beat;
        }
    }
    Ok(beats)
}

/// An attempt goes on while one of its messages is its own; the others are fenced when it ends.
fn together(answers: &[JobBeat]) -> Beat {
    if answers.contains(&JobBeat::Extended) {
        Beat::Extended
    } else if answers.contains(&JobBeat::Cancelled) {
        Beat::Cancelled
    } else {
        Beat::Lost
    }
}

/// Gives back what the worker does not know of, of every kind that it asks for.
pub(super) async fn release_unknown(
    backend: &dyn Backend,
    worker: WorkerId,
    sources: &[Source],
    known: &[Lease],
) -> Result<u64, BackendError> {
    // The leases of messages are those of jobs.
    let known = known.iter().flat_map(|lease| match lease {
        Lease::Messages(MessageLease { holds, lasts, .. }) => {
            let job = |hold: &JobHold| Lease::Job { hold: hold.clone(), lasts: *lasts };
            holds.iter().map(job).collect()
        }
        other => vec![other.clone()],
    });
    let known: Vec<_> = known.collect();
    kinds::release_unknown(backend, worker, sources, &known).await
}
